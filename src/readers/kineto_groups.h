// SPDX-License-Identifier: Apache-2.0
// Process groups of collectives, for the ops of finished traces.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// Of each track the trace's index and, in it, the lane; kNone: of no trace.
struct TracksOfTraces {
  const std::vector<uint32_t>& trace;
  const std::vector<uint32_t>& lane;
};

/// Fills process_groups and op_groups: O(log n) an op that states its group,
/// and nothing where none does.
void FillProcessGroups(const std::vector<StoredBatch>& batches,
                       const TracksOfTraces& tracks,
                       std::vector<Trace>* traces);

}  // namespace inferdiff
