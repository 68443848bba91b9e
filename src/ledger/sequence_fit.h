// SPDX-License-Identifier: Apache-2.0
// Two ranks' calls on one channel -> which are the same collectives, and how
// far the clocks are apart. rank_match.h has the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/rank_match.h"

namespace inferdiff {

/// One collective.
struct CallPair {
  uint32_t ours = 0;       // index in the sequence
  uint32_t reference = 0;  // index in the reference's
};

/// One rank's sequence against a reference's.
struct SequenceFit {
  ClockOffset clock;
  int64_t residual_ns = 0;
  std::vector<CallPair> pairs;
};

/// Nothing where the two are not calls of the same collectives.
std::optional<SequenceFit> FitSequences(const CallSequence& ours,
                                        const CallSequence& reference);

}  // namespace inferdiff
