// SPDX-License-Identifier: Apache-2.0
// The tables of a ledger. Amounts are means over its used steps, of which
// there must be one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "ledger/ledger.h"
#include "report/table.h"

namespace inferdiff {

/// A category that occurs.
struct CategoryRow {
  Category category = Category::kUnclassified;
  Amounts amounts;
};

/// By attributed time.
std::vector<CategoryRow> CategoryRows(const LedgerResult& ledger);

/// A step of the group is followed by another, so it has a wall time.
bool WallKnown(const LedgerResult& ledger);
/// What the categories add up to, over the used steps: the wall, or the time
/// in which anything ran where the wall is unknown.
int64_t WholeOf(const LedgerResult& ledger);
/// The unit of a step's amounts.
TimeUnit StepUnit(const LedgerResult& ledger);

/// Rows of the table that are no category.
inline constexpr std::string_view kForeignTitle = "foreign (others' work)";
inline constexpr std::string_view kIdleInsideTitle = "idle inside replays";
inline constexpr std::string_view kIdleOutsideTitle = "idle outside replays";

Table CategoryTable(const LedgerResult& ledger);
/// Mean and spread over the steps of wall, busy, idle ...
Table QuantityTable(const LedgerResult& ledger);
Table FamilyTable(const LedgerResult& ledger, size_t top);
/// No categories: all of them.
bool IsWanted(const std::vector<Category>& categories, Category category);
/// The `top` kernels of these categories.
Table KernelTable(const LedgerResult& ledger, size_t top,
                  const std::vector<Category>& wanted = {});
Table HistogramTable(const LedgerResult& ledger);

}  // namespace inferdiff
