// SPDX-License-Identifier: Apache-2.0
// Sorting records by time.
#pragma once

#include <cstdint>
#include <vector>

#include "readers/kineto_records.h"

namespace inferdiff {

/// Records in an order, their starts apart: both columns are wanted later.
struct RecordOrder {
  std::vector<int64_t> start_ns;
  std::vector<const EventRecord*> record;

  size_t size() const { return record.size(); }
};

/// Stable, by start. Linear in the number of records.
void SortByStart(RecordOrder* order);

}  // namespace inferdiff
