// SPDX-License-Identifier: Apache-2.0
// Checks of how the profiler stamps time: late, too long, or back to back.
#pragma once

#include <optional>

#include "classify/classify.h"
#include "integrity/capture_check.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// All graph replays begin after the last step marker has ended, although two
/// steps and more are marked, or after the launches of all, four and more,
/// although the host waited between each and the next: they stand at the time
/// of a flush. A host that runs ahead of the GPU does the same while the GPU is
/// busy with earlier work; so, where the launch calls are there, the GPU must
/// have idled for half of the time from the first graph launch on. Where
/// kernels of graphs have no correlation: all kernels without a launch call,
/// most of the trace, begin behind the last marker, although ops launched in
/// two markers and more ran before them.
std::optional<CaptureCheck> CheckBurst(const Trace& trace, const Steps& steps);

/// Half of the distinct kernels or more, of three categories or more, have
/// their shortest call within 10 % above the shortest of all (a twentieth of
/// the names aside). On 44 captures of 8 names and more, of either vendor, it
/// is 22 % at most. Not below 2 us, where the floor is the machine's own, nor
/// where the stamps are too coarse for a tenth to mean anything.
std::optional<CaptureCheck> CheckFloor(const Trace& trace,
                                       const Classification& classes);

/// Nine in ten kernels of graph replays start 0 or 1 ns behind the one in front
/// on their lane: 97 to 100 % on AMD, 2 % at most on NVIDIA.
std::optional<CaptureCheck> CheckBackToBack(const Trace& trace,
                                            const Steps& steps);

}  // namespace inferdiff
