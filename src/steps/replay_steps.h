// SPDX-License-Identifier: Apache-2.0
// Steps from graph replays: one replay a step, or one period of the sequence.
//
//   host   [D][D][D][V] sync   [D][D][D][V] sync   [D][D][D][V] sync
//          |---- cycle ----|   |---- cycle ----|   |---- cycle ----|
//
// A cycle of speculative decoding (drafts D, verify V) and a pass captured in
// pieces both repeat a sequence of graphs. Its phase is where the host waits,
// else where the GPU typically pauses longest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steps/segmentation.h"

namespace inferdiff {

/// Segments without their ops: enough for a cross-check.
struct ReplaySteps {
  std::string how;
  std::vector<Segment> segments;
  std::vector<uint32_t> of_replay;  // segment by replay
  std::vector<uint32_t> launch;     // first graph launch by segment, or kNone
};

/// Absent without replays.
std::optional<ReplaySteps> FindReplaySteps(const StepInput& in);

Segmentation SegmentationOf(const StepInput& in, ReplaySteps found);

}  // namespace inferdiff
