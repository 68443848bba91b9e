// SPDX-License-Identifier: Apache-2.0
#include "report/printed_side.h"

#include <algorithm>

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
  return totals;
}

/// Which group each category that occurs is in.
struct Tree {
  std::vector<Category> categories;
  std::vector<size_t> group_of;  // by index in `categories`
};

Tree TreeOf(const CompareResult& result) {
  Tree tree;
  for (size_t g = 0; g < result.groups.size(); ++g) {
    const GroupComparison& group = result.groups[g];
    const auto add = [&](const CategoryComparison& row) {
      tree.categories.push_back(*CategoryFromId(row.id));
      tree.group_of.push_back(g);
    };
    for (const CategoryComparison& part : group.parts) add(part);
    if (group.parts.empty()) add(group.whole);
  }
  return tree;
}

}  // namespace

PrintedSide PrintSide(const CompareResult& result, Side side, int64_t steps,
                      Precision precision) {
  const SideTotals& totals =
      side == Side::kA ? result.a_totals : result.b_totals;
  const auto amounts_member =
      side == Side::kA ? &CategoryComparison::a : &CategoryComparison::b;
  PrintedSide printed;
  printed.step = RoundParts(TotalsOf(totals), steps, precision);
  std::vector<Rational> times, hidden;
  for (const GroupComparison& group : result.groups) {
    const SideAmounts& amounts = group.whole.*amounts_member;
    times.push_back({amounts.attributed_ns, steps});
    hidden.push_back({amounts.sum_ns - amounts.attributed_ns, steps});
  }
  const std::vector<size_t> one(times.size(), 0);
  printed.group_times =
      ApportionWithin(times, one, {printed.step.busy}, precision);
  printed.group_sums =
      ApportionWithin(hidden, one, {printed.step.hidden}, precision);
  const Tree tree = TreeOf(result);
  times.clear();
  hidden.clear();
  for (const Category category : tree.categories) {
    const SideAmounts& row = totals.categories[static_cast<size_t>(category)];
    times.push_back({row.attributed_ns, steps});
    hidden.push_back({row.sum_ns - row.attributed_ns, steps});
  }
  const auto time_digits =
      ApportionWithin(times, tree.group_of, printed.group_times, precision);
  const auto hidden_digits =
      ApportionWithin(hidden, tree.group_of, printed.group_sums, precision);
  for (size_t i = 0; i < tree.categories.size(); ++i) {
    const auto category = static_cast<size_t>(tree.categories[i]);
    printed.times[category] = time_digits[i];
    printed.sums[category] = time_digits[i] + hidden_digits[i];
  }
  for (size_t g = 0; g < printed.group_sums.size(); ++g)
    printed.group_sums[g] += printed.group_times[g];
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
