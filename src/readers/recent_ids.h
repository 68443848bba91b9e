// SPDX-License-Identifier: Apache-2.0
// Numbers of things by their keys, for rows that keep asking for the same few.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"

namespace inferdiff {

/// Remembers the last answer for each of 256 hashes. `Key` has a member
/// uint64_t Mixed() that depends on all of it, and operator==.
template <typename Key>
class RecentIds {
 public:
  /// `find` gives the number of a key that is not remembered.
  template <typename Find>
  uint32_t Get(const Key& key, const Find& find) {
    Slot& slot = slots_[MixHash(key.Mixed()) % slots_.size()];
    if (!slot.used || !(slot.key == key)) slot = {key, find(key), true};
    return slot.id;
  }

 private:
  struct Slot {
    Key key{};
    uint32_t id = 0;
    bool used = false;
  };
  std::array<Slot, 256> slots_{};
};

}  // namespace inferdiff
