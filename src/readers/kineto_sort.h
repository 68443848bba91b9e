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

/// A record by its address, as a number where its memory holds another number
/// later.
inline const EventRecord* RecordAt(const EventRecord* record) { return record; }
inline const EventRecord* RecordAt(uint64_t address) {
  return reinterpret_cast<const EventRecord*>(static_cast<uintptr_t>(address));
}

/// Records in an order, their starts apart: both columns are wanted later.
template <typename Address>
struct RecordOrder {
  std::vector<int64_t> start_ns;
  std::vector<Address> record;

  size_t size() const { return record.size(); }
  void Reserve(size_t count) {
    start_ns.reserve(count);
    record.reserve(count);
  }
  void Add(const EventRecord& one) {
    start_ns.push_back(one.start_ns);
    record.push_back(reinterpret_cast<Address>(&one));
  }
};

/// Sorts by start, and runs of equal start by `less` of two records.
template <typename Address, typename Less>
void SortByTime(RecordOrder<Address>* order, Less less) {
  SortByKey(&order->start_ns, &order->record);
  const auto& starts = order->start_ns;
  for (size_t i = 0; i < starts.size();) {
    size_t end = i + 1;
    while (end < starts.size() && starts[end] == starts[i]) ++end;
    if (end - i > 1) {
      const auto begin = order->record.begin();
      std::sort(begin + static_cast<ptrdiff_t>(i),
                begin + static_cast<ptrdiff_t>(end), [&](Address a, Address b) {
                  return less(*RecordAt(a), *RecordAt(b));
                });
    }
    i = end;
  }
}

}  // namespace inferdiff
