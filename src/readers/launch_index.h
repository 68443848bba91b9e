// SPDX-License-Identifier: Apache-2.0
// Correlation id -> the host call that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferdiff {

/// Maps int64 keys to uint32_t values; of equal keys the first added holds.
/// Profilers number calls one by one, so a table indexed by the key serves;
/// where the keys are spread out it is a hash table.
class LaunchIndex {
 public:
  /// `min` and `max` of the keys to come, `count` of them.
  LaunchIndex(int64_t min, int64_t max, size_t count);
  /// False when the key is there already.
  bool Add(int64_t key, uint32_t value);
  /// kNone (model/trace.h) when absent.
  uint32_t Find(int64_t key) const;

 private:
  size_t SlotOf(int64_t key) const;

  bool dense_;
  int64_t min_;
  uint64_t range_;  // of a dense table
  size_t mask_ = 0;
  std::vector<uint32_t> values_;
  std::vector<int64_t> keys_;  // of a hash table
};

}  // namespace inferdiff
