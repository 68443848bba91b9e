// SPDX-License-Identifier: Apache-2.0
// Interned strings with dense ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace inferdiff {

/// Index of a string in a StringPool: 0, 1, 2 ... in order of first use.
using NameId = uint32_t;

/// Stores each distinct string once. Views stay valid for the pool's life.
/// Safe against prepared collisions (base/hash.h).
class StringPool {
 public:
  NameId Intern(std::string_view text);
  std::string_view operator[](NameId id) const { return strings_[id]; }
  NameId size() const { return static_cast<NameId>(strings_.size()); }

 private:
  struct Slot {
    uint32_t hash = 0;  // upper half
    NameId id = kEmpty;
  };
  static constexpr NameId kEmpty = 0xffffffffU;

  std::string_view Store(std::string_view text);
  void Grow();

  std::vector<std::string_view> strings_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // of the last block
  size_t free_bytes_ = 0;
};

}  // namespace inferdiff
