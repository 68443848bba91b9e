// SPDX-License-Identifier: Apache-2.0
// Rows of many stretches of a file in few large blocks, which cost fewer page
// faults than arrays of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/memory.h"

namespace inferdiff {

template <typename Row>
class RowStore {
 public:
  /// A copy that stays valid for the store's life.
  std::span<Row> Keep(const std::vector<Row>& rows) {
    static_assert(std::is_trivially_copyable_v<Row>);
    if (rows.empty()) return {};
    const size_t bytes = rows.size() * sizeof(Row);
    if (bytes > free_bytes_) {
      // Each is twice the one in front, up to a huge page.
      constexpr size_t kFirst = size_t{32} << 10;
      const size_t usual = kFirst << std::min<size_t>(blocks_.size(), 6);
      free_bytes_ = std::max(bytes, usual);
      blocks_.push_back(NewHuge(free_bytes_));
      free_ = static_cast<char*>(blocks_.back().get());
    }
    std::memcpy(free_, rows.data(), bytes);
    auto* const kept = reinterpret_cast<Row*>(free_);
    free_ += bytes;
    free_bytes_ -= bytes;
    return {kept, rows.size()};
  }

 private:
  std::vector<std::unique_ptr<void, FreeMemory>> blocks_;
  char* free_ = nullptr;  // of the last block
  size_t free_bytes_ = 0;
};

}  // namespace inferdiff
