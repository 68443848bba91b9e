// SPDX-License-Identifier: Apache-2.0
// Sorting records by time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sort.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// Records in an order, their starts apart: both columns are wanted later.
struct RecordOrder {
  std::vector<int64_t> start_ns;
  std::vector<const EventRecord*> record;

  size_t size() const { return record.size(); }
  void Add(const EventRecord& one) {
    start_ns.push_back(one.start_ns);
    record.push_back(&one);
  }
};

/// Sorts by start, and runs of equal start by `less`.
template <typename Less>
void SortByTime(RecordOrder* order, Less less) {
  SortByKey(&order->start_ns, &order->record);
  const auto& starts = order->start_ns;
  for (size_t i = 0; i < starts.size();) {
    size_t end = i + 1;
    while (end < starts.size() && starts[end] == starts[i]) ++end;
    if (end - i > 1) {
      const auto begin = order->record.begin();
      std::sort(begin + static_cast<ptrdiff_t>(i),
                begin + static_cast<ptrdiff_t>(end), less);
    }
    i = end;
  }
}

}  // namespace inferdiff
