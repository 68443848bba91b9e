// SPDX-License-Identifier: Apache-2.0
// From records in file order to traces: partition by (rank, device), sort,
// number names and lanes, link launches.
#pragma once

#include "model/trace.h"
#include "readers/kineto_meta.h"
#include "readers/kineto_scan.h"

namespace inferdiff {

/// Consumes `events`, whose ordinals are relative to their batch. Fills
/// file->traces (empty when there was no GPU activity) and file->counters.
/// The result does not depend on `threads`.
void AssembleTraces(ScannedEvents events, const KinetoMetadata& metadata,
                    bool truncated, unsigned threads, SourceFile* file);

}  // namespace inferdiff
