// SPDX-License-Identifier: Apache-2.0
// Exact summaries of integer samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rational.h"

namespace inferdiff {

/// Nearest-rank quantiles: always a value that was measured.
struct Stat {
  int64_t total = 0;
  int64_t n = 0;  // 0: unknown, and every other field is 0
  int64_t median = 0, p10 = 0, p90 = 0, min = 0, max = 0;
  /// Defined for n > 0 only.
  Rational mean() const { return {total, n}; }
};

/// Linear in the number of samples, whose order it changes. Throws InputError
/// "time-overflow".
Stat SummariseInPlace(std::span<int64_t> samples);

inline Stat Summarise(std::vector<int64_t> samples) {
  return SummariseInPlace(samples);
}

/// Samples by value, so that what several ranks measured can be put together
/// and still be summarised exactly. Durations repeat: 16 bytes a distinct one.
class Distribution {
 public:
  /// In any order.
  void Add(std::span<const int64_t> samples);
  void Merge(const Distribution& other);
  /// Throws InputError "time-overflow".
  Stat Summary() const;

  struct Value {
    int64_t value = 0;
    int64_t count = 0;
  };
  const std::vector<Value>& values() const { return values_; }  // ascending
  /// What values() returned.
  static Distribution From(std::vector<Value> values);

 private:
  std::vector<Value> values_;
};

}  // namespace inferdiff
