// SPDX-License-Identifier: Apache-2.0
// The exact split of B - A.
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// Per step, on means:
///   work        = sum - hidden on the same lane + idle inside
///   rank_wait   = attributed rank wait
///   concurrency = -(hidden on other lanes)
///   idle        = idle outside replays
/// where sum and hidden are without rank wait: what hides a wait hides no work.
/// Where a side's sums are unknown, work is what is attributed, and concurrency
/// 0 and unknown.
/// Throws ContractError when the parts do not add up.
Gap SplitGap(Basis basis, const SideTotals& a, const SideTotals& b);

/// Below 0.5 % a difference of two steps is no news.
Side SlowerOf(Rational a_total, Rational b_total);

/// The categories that occur on a side, in the order of tables: by the larger
/// side's attributed time a step.
std::vector<CategoryComparison> CompareCategories(const SideTotals& a,
                                                  const SideTotals& b);

/// Those of `groups` that occur, with their parts where `with_parts`.
std::vector<GroupComparison> CompareGroups(
    const std::vector<CategoryGroup>& groups, bool with_parts,
    const SideTotals& a, const SideTotals& b);

/// The categories of one group together.
CategoryComparison CompareGroup(const CategoryGroup& group, const SideTotals& a,
                                const SideTotals& b);

}  // namespace inferdiff
