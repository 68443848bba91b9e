// SPDX-License-Identifier: Apache-2.0
#include "base/stat.h"

#include <algorithm>
#include <utility>

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

void Distribution::Add(std::span<const int64_t> samples) {
  std::vector<int64_t> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  Distribution added;
  for (const int64_t sample : sorted) {
    if (added.values_.empty() || added.values_.back().value != sample)
      added.values_.push_back({sample, 0});
    ++added.values_.back().count;
  }
  Merge(added);
}

void Distribution::Merge(const Distribution& other) {
  std::vector<Value> merged;
  merged.reserve(values_.size() + other.values_.size());
  auto mine = values_.begin();
  for (const Value& theirs : other.values_) {
    while (mine != values_.end() && mine->value < theirs.value)
      merged.push_back(*mine++);
    merged.push_back(theirs);
    if (mine != values_.end() && mine->value == theirs.value)
      merged.back().count = CheckedAdd(merged.back().count, (mine++)->count);
  }
  merged.insert(merged.end(), mine, values_.end());
  values_ = std::move(merged);
}

Distribution Distribution::From(std::vector<Value> values) {
  Distribution made;
  made.values_ = std::move(values);
  return made;
}

Stat Distribution::Summary() const {
  Stat stat;
  if (values_.empty()) return stat;
  for (const Value& one : values_) {
    stat.n = CheckedAdd(stat.n, one.count);
    stat.total = CheckedAdd(stat.total, CheckedMul(one.value, one.count));
  }
  // The ceil(q n / 100)-th smallest, without a product that could overflow.
  const auto rank = [&](int64_t q) {
    const int64_t nth = stat.n / 100 * q + (stat.n % 100 * q + 99) / 100;
    int64_t seen = 0;
    for (const Value& one : values_)
      if ((seen += one.count) >= nth) return one.value;
    return values_.back().value;
  };
  stat.median = rank(50);
  stat.p10 = rank(10);
  stat.p90 = rank(90);
  stat.min = values_.front().value;
  stat.max = values_.back().value;
  return stat;
}

}  // namespace inferdiff
