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

#include <cstddef>
#include <optional>

#include "steps/segmentation.h"

namespace inferdiff {

/// Absent without replays.
std::optional<Segmentation> FindReplaySteps(const StepInput& in);

/// The smallest period of `symbols` that fits about as well as the best one
/// does; 0 where none repeats four fifths of it. Looks at 16,384 symbols and
/// periods up to 512.
size_t PeriodOf(const std::vector<uint32_t>& symbols);

}  // namespace inferdiff
