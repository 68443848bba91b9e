// SPDX-License-Identifier: Apache-2.0
// Row ids -> places in a list, asked for in any order.
#pragma once

#include <cstdint>
#include <vector>

namespace inferdiff {

/// Databases number rows one by one, so a table indexed by the id serves;
/// where ids are spread out they are sorted and searched.
class IdTable {
 public:
  IdTable() = default;
  /// Of equal ids the first holds.
  explicit IdTable(const std::vector<int64_t>& ids);
  /// kNone (model/trace.h) when absent.
  uint32_t Find(int64_t id) const;

 private:
  std::vector<int64_t> sorted_;   // empty: a dense table
  std::vector<uint32_t> places_;  // by id - first_, or as sorted_
  int64_t first_ = 0;
};

}  // namespace inferdiff
