// SPDX-License-Identifier: Apache-2.0
// The parts of a step as they are printed. A page shows some of them several
// times; rounded here once, they agree wherever they stand.
#pragma once

#include <cstdint>

#include "base/number.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// Totals over some steps in ns, or what is printed of a step in last digits:
///
///   whole --+-- busy              sum --+-- busy
///           +-- foreign                 +-- hidden --+-- same lane
///           +-- idle --+-- inside                    +-- other lanes
///                      +-- outside --+-- between replays
///                                    +-- tail
///                                    +-- host late  }
///                                    +-- queued     } of the rest
///                                    +-- unknown    }
struct StepParts {
  int64_t whole = 0;  // wall, or what the page calls the step
  int64_t sum = 0;
  int64_t busy = 0;
  int64_t foreign = 0;
  int64_t idle = 0;
  int64_t inside = 0, outside = 0;
  int64_t between = 0, tail = 0;
  int64_t host_late = 0, queued = 0, unknown = 0;
  int64_t hidden = 0;
  int64_t hidden_same_lane = 0, hidden_cross_lane = 0;
};

/// Of a ledger's used steps; without walls, whole is busy + foreign.
StepParts TotalsOf(const PerStep& per_step);

/// Rounds totals / `steps`. whole, sum and busy are the exact values rounded;
/// the others add up, each to one of its two neighbours.
StepParts RoundParts(const StepParts& totals, int64_t steps,
                     Precision precision);

}  // namespace inferdiff
