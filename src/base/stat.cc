// SPDX-License-Identifier: Apache-2.0
#include "base/stat.h"

#include <algorithm>

#include "base/checked.h"

namespace inferdiff {

Stat SummariseInPlace(std::span<int64_t> samples) {
  Stat stat;
  if (samples.empty()) return stat;
  stat.n = static_cast<int64_t>(samples.size());
  for (const int64_t sample : samples)
    stat.total = CheckedAdd(stat.total, sample);
  // Nearest rank: the ceil(q n / 100)-th smallest. Each selection leaves the
  // smaller samples in front, so that the next needs to look at one side only.
  const auto first = samples.begin();
  const auto rank = [&](int64_t q) {
    return first + (q * stat.n + 99) / 100 - 1;
  };
  const auto median = rank(50), p10 = rank(10), p90 = rank(90);
  std::nth_element(first, median, samples.end());
  stat.median = *median;
  std::nth_element(first, p10, median);
  stat.p10 = *p10;
  std::nth_element(median, p90, samples.end());
  stat.p90 = *p90;
  stat.min = *std::min_element(first, p10 + 1);
  stat.max = *std::max_element(p90, samples.end());
  return stat;
}

}  // namespace inferdiff
