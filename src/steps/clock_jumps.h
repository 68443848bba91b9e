// SPDX-License-Identifier: Apache-2.0
// Where the GPU's clock leaps while the host's goes on.
//
//   host     [l1]  [l2]  [l3]  [l4]
//   GPU         [1]   [2]                      [3]  [4]
//             lead      lead of l3: longer from here on, and the GPU idled
#pragma once

#include <vector>

#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// The launch lead of an op is the time from the end of its launch call to its
/// start. Launches fall into stretches, of three and more, whose leads lie 1 ms
/// apart, and twice the spread within either. Between two of them
///   - the clock jumped on where leads rise while the GPU, launched to, idles
///     for half of that at a time, and stay so: a stall ends when the host
///     waits for the GPU, and leads fall again without anything impossible;
///   - it jumped back where they fall, and ops start before their launch or in
///     front of what was launched before them on their lane.
/// A host that runs ahead raises the lead bit by bit, or by a step in which the
/// GPU works. At most 32 jumps. Linear in ops and calls.
std::vector<Damage> FindClockJumps(const Trace& trace);

}  // namespace inferdiff
