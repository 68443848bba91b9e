// SPDX-License-Identifier: Apache-2.0
// Items by group, in two arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"

namespace inferdiff {

/// The indices 0 ... items-1 sorted by group, each group in index order.
class ByGroup {
 public:
  ByGroup() = default;  // no group
  /// `group_of(item)` is a group or kNone.
  template <typename GroupOf>
  ByGroup(size_t groups, size_t items, GroupOf group_of) : first_(groups + 1) {
    for (size_t i = 0; i < items; ++i)
      if (const uint32_t group = group_of(i); group != kNone)
        ++first_[group + 1];
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    items_.resize(first_.back());
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (size_t i = 0; i < items; ++i)
      if (const uint32_t group = group_of(i); group != kNone)
        items_[next[group]++] = static_cast<uint32_t>(i);
  }

  size_t size() const { return items_.size(); }
  /// Items in the groups in front of this one.
  size_t first(size_t group) const { return first_[group]; }
  std::span<uint32_t> operator[](size_t group) {
    return std::span(items_).subspan(first_[group], count(group));
  }
  std::span<const uint32_t> operator[](size_t group) const {
    return std::span(items_).subspan(first_[group], count(group));
  }

 private:
  size_t count(size_t group) const { return first_[group + 1] - first_[group]; }

  std::vector<size_t> first_;  // by group, and the end
  std::vector<uint32_t> items_;
};

}  // namespace inferdiff
