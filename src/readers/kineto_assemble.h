// SPDX-License-Identifier: Apache-2.0
// From records in file order to traces: partition by (rank, device), sort,
// number names and lanes, link launches.
#pragma once

#include <memory>
#include <vector>

#include "model/trace.h"
#include "readers/kineto_meta.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// `batches` in file order, ordinals relative to their batch; consumed.
/// `lexicons` are those the batches point to. Fills file->traces (empty when
/// there was no GPU activity) and file->counters.
void AssembleTraces(std::vector<RecordBatch> batches,
                    std::vector<std::unique_ptr<Lexicon>> lexicons,
                    const KinetoMetadata& metadata, bool truncated,
                    SourceFile* file);

}  // namespace inferdiff
