// SPDX-License-Identifier: Apache-2.0
// Categories as they are printed. The pages of one trace and of two round them
// in the same way, so that a figure has the same digits on both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compare/compare.h"
#include "report/step_parts.h"

namespace inferdiff {

/// What of a category's total is rounded.
struct CategoryTotal {
  int64_t attributed_ns = 0, hidden_ns = 0;
};

/// Last digits: the groups and rank wait add up to the step's busy and hidden
/// time, the categories to their group.
struct PrintedCategories {
  std::vector<int64_t> group_times, group_hidden;  // by `groups`
  std::array<int64_t, kCategoryCount> times{}, hidden{};
  int64_t wait_time = 0, wait_hidden = 0;  // rank wait
};

/// Totals over `steps`; `step` is what RoundParts made of theirs.
PrintedCategories PrintCategories(
    const std::array<CategoryTotal, kCategoryCount>& totals,
    const std::vector<CategoryGroup>& groups, const CategoryTotal& rank_wait,
    int64_t steps, const StepParts& step, Precision precision);

}  // namespace inferdiff
