// SPDX-License-Identifier: Apache-2.0
// The representative steps as a trace for ui.perfetto.dev: both sides begin at
// one instant.
//
//   A  library                     a process a side
//     step      [step 4            ]
//     layers     [0 ][1 ][2 ][3 ]
//     attention                    a track a category
//       lane 0   [fmha]  [fmha]    a row a lane; more where ops overlap, since
//       lane 1      [fmha]         slices of one track must nest
//     norm
//       ...
//
// In Perfetto's own encoding, and not in the JSON that it reads, too: there
// times are decimals of microseconds, which its importer cuts to whole
// nanoseconds through doubles. One nanosecond lost makes neighbours overlap.
#pragma once

#include "base/text_pieces.h"
#include "compare/compare.h"

namespace inferdiff {

void WritePerfetto(const LedgerResult& ledger, const TextSink& sink);
/// With each operation's counterpart on the other side.
void WritePerfetto(const CompareResult& result, const TextSink& sink);

}  // namespace inferdiff
