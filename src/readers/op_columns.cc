// SPDX-License-Identifier: Apache-2.0
#include "readers/op_columns.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace inferdiff {
namespace {

template <typename Work>
void ForEachColumn(GpuOps* ops, const Work& work) {
  work(&ops->start_ns);
  work(&ops->dur_ns);
  work(&ops->correlation);
  work(&ops->ordinal);
  work(&ops->name);
  work(&ops->lane);
  work(&ops->kind);
}

/// Sorts what is mostly in order, each element a few places off: by insertion,
/// while that is cheap.
template <typename Less>
void SortNearly(std::vector<uint32_t>* order, const Less& less) {
  constexpr size_t kMovesEach = 16;
  size_t moves = kMovesEach * order->size();
  for (size_t i = 1; i < order->size(); ++i) {
    const uint32_t one = (*order)[i];
    size_t at = i;
    for (; at > 0 && less(one, (*order)[at - 1]); --at) {
      (*order)[at] = (*order)[at - 1];
    }
    (*order)[at] = one;
    if (i - at > moves) {
      std::sort(order->begin(), order->end(), less);
      return;
    }
    moves -= i - at;
  }
}

}  // namespace

void OpColumns::Grow() {
  constexpr size_t kStep = 4096;  // what is cleared is still near when filled
  const size_t wanted = count_ < kStep ? 2 * count_ + 64 : count_ + kStep;
  const bool full = wanted > ops_.start_ns.capacity();
  const size_t capacity = std::max(2 * wanted, expected_);
  ForEachColumn(&ops_, [&](auto* column) {
    if (full) column->reserve(capacity);
    column->resize(wanted);
  });
}

GpuOps OpColumns::Take() {
  ForEachColumn(&ops_, [&](auto* column) { column->resize(count_); });
  count_ = 0;
  return std::exchange(ops_, {});
}

void SortOps(GpuOps* ops) {
  const auto key = [&](size_t i) {
    return std::tie(ops->start_ns[i], ops->dur_ns[i], ops->lane[i],
                    ops->ordinal[i], ops->kind[i]);
  };
  const auto before = [&](size_t a, size_t b) { return key(a) < key(b); };
  // Most profilers write in order.
  size_t sorted = 1;
  while (sorted < ops->size() && !before(sorted, sorted - 1)) ++sorted;
  if (sorted >= ops->size()) return;
  std::vector<uint32_t> order(ops->size());
  std::iota(order.begin(), order.end(), 0U);
  SortNearly(&order, before);
  ForEachColumn(ops, [&](auto* column) {
    std::decay_t<decltype(*column)> moved;
    moved.reserve(order.size());
    for (const uint32_t from : order) moved.push_back((*column)[from]);
    column->swap(moved);
  });
}

}  // namespace inferdiff
