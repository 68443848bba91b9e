// SPDX-License-Identifier: Apache-2.0
#include "readers/launch_index.h"

#include <bit>

#include "base/hash.h"
#include "model/trace.h"

namespace inferdiff {

LaunchIndex::LaunchIndex(int64_t min, int64_t max, size_t count)
    : min_(min),
      range_(static_cast<uint64_t>(max) - static_cast<uint64_t>(min)) {
  dense_ = count == 0 || range_ / 4 <= count;
  if (count == 0) range_ = 0;
  if (dense_) {
    values_.assign(static_cast<size_t>(range_) + 1, kNone);
    return;
  }
  const size_t slots = std::bit_ceil(count * 2);
  mask_ = slots - 1;
  values_.assign(slots, kNone);
  keys_.resize(slots);
}

size_t LaunchIndex::SlotOf(int64_t key) const {
  size_t slot = static_cast<size_t>(MixHash(static_cast<uint64_t>(key)));
  for (slot &= mask_; values_[slot] != kNone; slot = (slot + 1) & mask_) {
    if (keys_[slot] == key) break;
  }
  return slot;
}

bool LaunchIndex::Add(int64_t key, uint32_t value) {
  const size_t slot = dense_ ? static_cast<size_t>(static_cast<uint64_t>(key) -
                                                   static_cast<uint64_t>(min_))
                             : SlotOf(key);
  if (values_[slot] != kNone) return false;
  values_[slot] = value;
  if (!dense_) keys_[slot] = key;
  return true;
}

uint32_t LaunchIndex::Find(int64_t key) const {
  if (!dense_) return values_[SlotOf(key)];
  const uint64_t offset =
      static_cast<uint64_t>(key) - static_cast<uint64_t>(min_);
  return offset <= range_ ? values_[static_cast<size_t>(offset)] : kNone;
}

}  // namespace inferdiff
