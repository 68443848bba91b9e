// SPDX-License-Identifier: Apache-2.0
// Graph replays: the ops of one graph launch, found by their correlation.
//
//   host     [graph launch c=7]        [launch c=8] [graph launch c=9]
//   lane 0        [7][7][7.....]           [8]           [9][9][9.....]
//   lane 1           [7...]                                 [9...]
//                 replay, 4 ops           eager          replay, 4 ops
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

struct Replays {
  std::vector<Replay> list;           // in order of first op
  std::vector<uint32_t> of_op;        // index in list; kNone = eager
  std::vector<uint32_t> op_begin;     // size list + 1: where a replay's ops
  std::vector<uint32_t> ops;          //   lie in `ops`, in time order
  std::vector<uint32_t> normal_lane;  // see Steps::normal_lane
};

/// Linear but for a sort of the ops without a launch record. Ops whose launch
/// is no graph launch are eager however many share an id; without a launch
/// record, many ops under one id can only be a replay.
Replays FindReplays(const Trace& trace);

}  // namespace inferdiff
