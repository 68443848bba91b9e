// SPDX-License-Identifier: Apache-2.0
// The columns of GPU ops while they are filled: all but `launch`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/trace.h"

namespace inferdiff {

/// One op on its way into columns.
struct OpRow {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  int64_t correlation = 0;
  uint64_t ordinal = 0;
  NameId name = 0;
  uint32_t lane = 0;
  OpKind kind = OpKind::kKernel;
};

class OpColumns {
 public:
  OpColumns() = default;
  explicit OpColumns(GpuOps ops) : ops_(std::move(ops)), count_(ops_.size()) {}

  size_t size() const { return count_; }
  void Add(const OpRow& row) {
    if (count_ == ops_.size()) Grow();
    const size_t at = count_++;
    ops_.start_ns[at] = row.start_ns;
    ops_.dur_ns[at] = row.dur_ns;
    ops_.correlation[at] = row.correlation;
    ops_.ordinal[at] = row.ordinal;
    ops_.name[at] = row.name;
    ops_.lane[at] = row.lane;
    ops_.kind[at] = row.kind;
  }
  OpRow At(size_t i) const {
    return {ops_.start_ns[i], ops_.dur_ns[i], ops_.correlation[i],
            ops_.ordinal[i],  ops_.name[i],   ops_.lane[i],
            ops_.kind[i]};
  }
  /// When their memory is full it becomes enough for so many, or doubles.
  void Expect(size_t rows) { expected_ = rows; }
  GpuOps Take();

 private:
  void Grow();

  GpuOps ops_;  // with room behind the rows
  size_t count_ = 0;
  size_t expected_ = 0;
};

/// Foresees how many rows there will be, of such as come evenly from some place
/// of the file on. Memory that is not touched costs nothing.
class RowForecast {
 public:
  /// Of those that were met in front of this share of the file.
  size_t Of(size_t rows, double share) {
    if (rows == 0) begin_ = share;
    constexpr double kMost = 64;
    const double seen = std::max(share - begin_, 1e-9);
    const double factor = std::min((1 - begin_) / seen, kMost);
    constexpr double kSpare = 1.0625;
    return static_cast<size_t>(static_cast<double>(rows) * factor * kSpare);
  }

 private:
  double begin_ = 0;
};

/// Sorts by (start, end, lane, ordinal); kernels come in front of copies, where
/// both are counted on their own.
void SortOps(GpuOps* ops);

}  // namespace inferdiff
