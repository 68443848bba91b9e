// SPDX-License-Identifier: Apache-2.0
#include "report/printed_side.h"

#include <algorithm>
#include <string_view>

#include "report/printed_categories.h"

namespace inferdiff {
namespace {

StepParts TotalsOf(const SideTotals& side) {
  StepParts totals;
  totals.whole = side.headline_ns;
  totals.sum = side.all.sum_ns;
  totals.busy = side.all.attributed_ns;
  totals.foreign = side.foreign_ns;
  totals.inside = side.idle_inside_ns;
  totals.outside = side.idle_outside_ns;
  totals.idle = totals.inside + totals.outside;
  if (side.idle_causes) {
    totals.between = side.idle_causes->between.total();
    totals.tail = side.idle_causes->tail.total();
    totals.host_late = side.idle_causes->rest.host_late;
    totals.queued = side.idle_causes->rest.queued;
    totals.unknown = side.idle_causes->rest.unknown;
  }
  return totals;
}

/// Index in `groups` of a group, or of the one that a category is in: a
/// group of which one category occurs stands under that one's id.
size_t IndexOf(const std::vector<CategoryGroup>& groups, std::string_view id) {
  const auto is = [&](const CategoryGroup& group) {
    return group.id == id ||
           std::any_of(group.members.begin(), group.members.end(),
                       [&](Category member) { return IdOf(member) == id; });
  };
  const auto found = std::find_if(groups.begin(), groups.end(), is);
  return static_cast<size_t>(found - groups.begin());
}

}  // namespace

PrintedSide PrintSide(const CompareResult& result, Side side, int64_t steps,
                      Precision precision) {
  const SideTotals& totals =
      side == Side::kA ? result.a_totals : result.b_totals;
  std::array<CategoryTotal, kCategoryCount> amounts;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const SideAmounts& row = totals.categories[i];
    amounts[i] = {row.attributed_ns, row.sum_ns - row.attributed_ns};
  }
  PrintedSide printed;
  printed.step = RoundParts(TotalsOf(totals), steps, precision);
  const SideAmounts& wait = totals.rank_wait;
  const PrintedCategories categories =
      PrintCategories(amounts, result.row_groups,
                      {wait.attributed_ns, wait.sum_ns - wait.attributed_ns},
                      steps, printed.step, precision);
  printed.wait_time = categories.wait_time;
  printed.wait_sum = categories.wait_time + categories.wait_hidden;
  printed.times = categories.times;
  for (size_t i = 0; i < kCategoryCount; ++i)
    printed.sums[i] = categories.times[i] + categories.hidden[i];
  for (const GroupComparison& group : result.groups) {
    const size_t g = IndexOf(result.row_groups, group.whole.id);
    printed.group_times.push_back(categories.group_times.at(g));
    printed.group_sums.push_back(categories.group_times.at(g) +
                                 categories.group_hidden.at(g));
  }
  return printed;
}

std::vector<int64_t> FamilyDigits(const std::vector<FamilyAmounts>& families,
                                  const PrintedSide& side, int64_t steps,
                                  Precision precision) {
  std::vector<Rational> times;
  std::vector<size_t> category_of;
  for (const FamilyAmounts& family : families) {
    times.push_back({family.amounts.attributed_ns, steps});
    category_of.push_back(static_cast<size_t>(family.category));
  }
  return ApportionWithin(times, category_of,
                         {side.times.begin(), side.times.end()}, precision);
}

}  // namespace inferdiff
