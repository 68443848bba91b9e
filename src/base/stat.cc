// SPDX-License-Identifier: Apache-2.0
#include "base/stat.h"

#include <algorithm>

#include "base/checked.h"

namespace inferdiff {

Stat Summarise(std::vector<int64_t> samples) {
  Stat stat;
  if (samples.empty()) return stat;
  std::sort(samples.begin(), samples.end());
  for (const int64_t sample : samples)
    stat.total = CheckedAdd(stat.total, sample);
  stat.n = static_cast<int64_t>(samples.size());
  // Nearest rank: the ceil(q n / 100)-th smallest.
  const auto rank = [&](int64_t q) {
    return samples[static_cast<size_t>((q * stat.n + 99) / 100 - 1)];
  };
  stat.median = rank(50);
  stat.p10 = rank(10);
  stat.p90 = rank(90);
  stat.min = samples.front();
  stat.max = samples.back();
  return stat;
}

}  // namespace inferdiff
