// SPDX-License-Identifier: Apache-2.0
// Interned strings with dense ids.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace inferdiff {

/// Index of a string in a StringPool: 0, 1, 2 ... in order of first use.
using NameId = uint32_t;

/// Stores each distinct string once. Views stay valid for the pool's life.
class StringPool {
 public:
  NameId Intern(std::string_view text);
  std::string_view operator[](NameId id) const { return strings_[id]; }
  NameId size() const { return static_cast<NameId>(strings_.size()); }

 private:
  std::deque<std::string> strings_;  // a deque: growth moves no string
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace inferdiff
