// SPDX-License-Identifier: Apache-2.0
// One side of a comparison as it is printed: step, groups, categories and
// kernel families in last digits, each adding up to what stands above it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compare/compare.h"
#include "report/step_parts.h"

namespace inferdiff {

struct PrintedSide {
  StepParts step;
  std::vector<int64_t> group_times, group_sums;  // by CompareResult::groups
  std::array<int64_t, kCategoryCount> times{}, sums{};
  int64_t wait_time = 0, wait_sum = 0;  // rank wait
};

/// Totals over `steps`. A sum is its time and what is hidden of it, so that
/// rounding never makes it the smaller of the two.
PrintedSide PrintSide(const CompareResult& result, Side side, int64_t steps,
                      Precision precision);

/// The attributed times of whole categories' families, in last digits.
std::vector<int64_t> FamilyDigits(const std::vector<FamilyAmounts>& families,
                                  const PrintedSide& side, int64_t steps,
                                  Precision precision);

}  // namespace inferdiff
