// SPDX-License-Identifier: Apache-2.0
// What is special about a ledger that was read from a published table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "classify/category.h"

namespace inferdiff {

/// A row of the table and the categories that it stands for. The ledger's
/// amounts of the row stand at the first of them.
struct PublishedRow {
  std::string title;  // "MoE experts + routing"
  std::vector<Category> categories;

  bool operator==(const PublishedRow&) const = default;
};

/// The table tells totals over LedgerResult::used_steps, which is what makes
/// integers of its decimals and no number of steps. Nothing is known of single
/// steps, of kernels, of early starts or of time inside replays.
struct PublishedTable {
  std::string side;  // the columns' name: "gb300_default"
  std::vector<PublishedRow> rows;
  int64_t wall_ns = 0, idle_ns = 0;  // totals
  /// Durations added up; else only attributed time is known, and nothing of
  /// what is hidden.
  bool sums_known = false;
  bool counts_known = false;

  bool operator==(const PublishedTable&) const = default;
};

}  // namespace inferdiff
