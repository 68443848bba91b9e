// SPDX-License-Identifier: Apache-2.0
// Correlation id -> the host call that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferdiff {

/// Maps int64 keys to uint32_t values; of equal keys the first added holds.
///
/// Profilers number calls one by one, and ops come in about the order of their
/// launches. So the keys are sorted, mostly before they are, and a search
/// starts where the last one ended: it touches memory in order, where a table
/// with one slot for every number, or a hash, would miss the cache for each op.
class LaunchIndex {
 public:
  void Reserve(size_t count);
  void Add(int64_t key, uint32_t value);
  /// Behind the last Add. Returns how many were added under a key that was
  /// there already.
  size_t Finish();

  /// Was it added more than once?
  bool IsRepeated(int64_t key) const {
    return !repeated_.empty() && FindRepeated(key);
  }
  /// How many of `keys` were.
  int64_t CountRepeated(const std::vector<int64_t>& keys) const;

  /// kNone (model/trace.h) when absent. `near`: where the last search of the
  /// caller ended, 0 at first.
  uint32_t Find(int64_t key, size_t* near) const;

 private:
  bool FindRepeated(int64_t key) const;
  size_t LowerBound(int64_t key, size_t near) const;

  std::vector<int64_t> keys_;
  std::vector<uint32_t> values_;
  std::vector<int64_t> repeated_;  // sorted
};

}  // namespace inferdiff
