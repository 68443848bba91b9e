// SPDX-License-Identifier: Apache-2.0
// Times that no GPU can have produced: steps that they touch are left out.
//
//   lane 7   [a][b....... end of b as recorded .......]
//                   [c][d]      [e]                       b cannot run on
//                   ^ in order: b has ended here
#pragma once

#include <cstdint>
#include <vector>

#include "steps/segmentation.h"
#include "steps/steps.h"

namespace inferdiff {

/// Impossible durations, and clock jumps (steps/clock_jumps.h). A lane runs in
/// order; the next op of a lane starts before its predecessor ends where
/// launches are dependent, by 4 us at most on an H200, a B200 and a B300, by
/// 0.6 us on AMD. What is launched behind a graph waits for all of its lanes.
/// So a kernel is taken to be recorded wrongly that
///   - overruns the start of the next op on its lane, or on the main lane
///   behind
///     its replay, by more than 1 ms,
///   - lasts ten times the median of its name, or, of a name with fewer than
///     three calls, overruns by a twentieth of all GPU time,
///   - and is one of few: a lane with more than a hundredth of such ops is a
///     hardware queue that several streams share, not one in order;
/// or that nothing follows on its lane, and that lasts ten times the longest of
/// five and more other calls, in replays of its graph or else on its lane, by
/// over 1 ms, where those are alike or the host waited for it and went on.
/// Collectives are left alone: they wait, and for as long as it takes.
///
/// Linear in ops and calls, whatever they hold. By begin.
std::vector<Damage> FindDamage(const StepInput& in);

/// Leaves out the steps whose window meets a damaged stretch, and those whose
/// op is damaged: "impossible-duration" and "clock-jump".
void ExcludeDamaged(Steps& steps);

}  // namespace inferdiff
