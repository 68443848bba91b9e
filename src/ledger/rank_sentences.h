// SPDX-License-Identifier: Apache-2.0
// Who of a rank set waits for whom, in words for reports and comparisons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {

/// "rank 3", or the label of a rank without a number.
std::string NameOf(const RankRow& row);

/// A mean over steps; of none, the total, which is 0.
inline Rational MeanOver(int64_t total, int64_t steps) {
  return {total, std::max<int64_t>(steps, 1)};
}

struct RankSentence {
  std::string id;  // "straggler", "turns", "slowest", "uneven.attention"
  std::string text;
};

/// LedgerResult::rank_findings; nothing of a ledger of one rank. Where `side`
/// is a name, each sentence begins with it: "A: the others wait for rank 1".
std::vector<RankSentence> RankSentences(const LedgerResult& ledger,
                                        std::string_view side);

}  // namespace inferdiff
