// SPDX-License-Identifier: Apache-2.0
// Replays that lack ops of their graph, because the profiler lost their records
// or the window of the trace cuts them.
//
//   graph          [a][b][c][d][e]
//   another replay [a][b]      [e]     c and d are missing: a hole is left
//   another graph  [a][b][e]           none is: it runs on
#pragma once

#include <cstdint>

#include "model/trace.h"
#include "steps/replays.h"

namespace inferdiff {

/// What a kernel adds to its replay's signature.
uint64_t SignatureOf(NameId name);

/// Sets missing_ops, and gives the replays concerned their graph's signature.
/// Linear in the ops of the replays, but for a few common graphs to compare
/// each rare one with.
void FindReplayLosses(const Trace& trace, Replays* replays);

}  // namespace inferdiff
