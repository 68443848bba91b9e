// SPDX-License-Identifier: Apache-2.0
// Times that no GPU can have produced: steps that they touch are left out.
//
//   lane 7   [a][b....... end of b as recorded .......]
//                   [c][d]      [e]                       b cannot run on
//                   ^ in order: b has ended here
//
//   host     [l1]  [l2]  [l3]  [l4]
//   GPU         [1]   [2]                      [3]  [4]   the clock jumped
#pragma once

#include <cstdint>
#include <vector>

#include "classify/classify.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// Impossible durations. A lane runs in order; the next op of a lane starts
/// before its predecessor ends where launches are dependent, by 4 us at most
/// on an H200, a B200 and a B300, by 0.6 us on AMD. So a kernel is taken to be
/// recorded wrongly that
///   - overruns the start of the next op on its lane by more than 1 ms,
///   - lasts ten times the median of its name, or, of a name with fewer than
///     three calls, overruns by a twentieth of all GPU time,
///   - and is one of few: a lane with more than a hundredth of such ops is a
///     hardware queue that several streams share, not one in order.
/// Collectives are left alone: they wait, and for as long as it takes.
///
/// Clock jumps. The launch lead of an op is the time from the end of its launch
/// call to its start. The clock jumped where all leads of one stretch of three
/// launches or more lie at least 1 ms, and twice the spread within either
/// stretch, from all of the launches behind it, while the GPU, launched to,
/// idles for half of that at a time (the clock jumped on) or ops start before
/// their launch (it jumped back). A host that runs ahead raises the lead bit by
/// bit, or by a step in which the GPU works, and one that waits for the GPU
/// brings it down again.
///
/// Linear in ops and calls, whatever they hold. By begin.
std::vector<Damage> FindDamage(const Trace& trace,
                               const Classification& classes);

/// Leaves out the steps whose window meets a damaged stretch, and those whose
/// op is damaged: "impossible-duration" and "clock-jump".
void ExcludeDamaged(Steps& steps);

}  // namespace inferdiff
