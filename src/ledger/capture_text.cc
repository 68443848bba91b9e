// SPDX-License-Identifier: Apache-2.0
#include "ledger/capture_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace inferdiff {

std::string CaptureText(const CaptureCheck& check, const LedgerResult& ledger) {
  constexpr size_t kMostNamed = 6;
  const size_t count = check.ranks.size();
  if (count == 0 || count == ledger.ranks.size()) return TextOf(check);
  std::string names;
  for (size_t i = 0; i < std::min(count, kMostNamed); ++i) {
    const RankRow& row = ledger.ranks[check.ranks[i]];
    names += fmt::format(
        "{}{}", i == 0 ? "" : ", ",
        row.rank ? fmt::format("{}", *row.rank) : Quoted(row.label));
  }
  if (count > kMostNamed) names += fmt::format(", {}", kEllipsis);
  return count == 1 ? fmt::format("Rank {}: {}", names, TextOf(check))
                    : fmt::format("{} ranks of {} ({}): {}", count,
                                  ledger.ranks.size(), names, TextOf(check));
}

}  // namespace inferdiff
