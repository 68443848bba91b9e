// SPDX-License-Identifier: Apache-2.0
// Two sequences -> pairs that cross nowhere, of the most worth together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace inferdiff {

/// By item of the first sequence its partner in the second, if any.
/// `worth(i, j)` of a pair, small integers; pairs of 0 or less are none. Of
/// equal answers the one that pairs the latest items. Needleman and Wunsch,
/// 1970, with gaps that cost nothing. O(n m) in time, and a byte a cell.
template <typename Worth>
std::vector<std::optional<uint32_t>> MatchInOrder(size_t n, size_t m,
                                                  const Worth& worth) {
  enum Move : uint8_t { kSkipFirst, kSkipSecond, kPair };
  std::vector<uint8_t> moves((n + 1) * (m + 1), kSkipSecond);
  std::vector<int64_t> above(m + 1, 0), row(m + 1, 0);
  for (size_t i = 1; i <= n; ++i) {
    moves[i * (m + 1)] = kSkipFirst;
    for (size_t j = 1; j <= m; ++j) {
      uint8_t& move = moves[i * (m + 1) + j];
      move = above[j] > row[j - 1] ? kSkipFirst : kSkipSecond;
      row[j] = std::max(above[j], row[j - 1]);
      const int64_t pair = worth(i - 1, j - 1);
      if (pair <= 0 || above[j - 1] + pair < row[j]) continue;
      move = kPair;
      row[j] = above[j - 1] + pair;
    }
    std::swap(above, row);
  }
  std::vector<std::optional<uint32_t>> partner(n);
  for (size_t i = n, j = m; i > 0 && j > 0;) {
    switch (moves[i * (m + 1) + j]) {
      case kPair:
        partner[--i] = static_cast<uint32_t>(--j);
        break;
      case kSkipFirst:
        --i;
        break;
      default:
        --j;
    }
  }
  return partner;
}

}  // namespace inferdiff
