// SPDX-License-Identifier: Apache-2.0
#include "compare/gap.h"

#include <algorithm>

#include "base/error.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

/// B - A of two totals, a step.
Rational Delta(const SideTotals& a, int64_t total_a, const SideTotals& b,
               int64_t total_b) {
  return b.PerStep(total_b) - a.PerStep(total_a);
}

/// Only what both sides know can be subtracted.
bool SumsKnown(const SideTotals& a, const SideTotals& b) {
  return a.sums_known && b.sums_known;
}

int64_t WorkOf(const SideAmounts& amounts, bool sums_known) {
  return sums_known ? amounts.sum_ns - amounts.hidden_same_lane_ns
                    : amounts.attributed_ns;
}

Rational LargerAttributed(const CategoryComparison& row, const SideTotals& a,
                          const SideTotals& b) {
  const Rational of_a = a.PerStep(row.a.attributed_ns);
  const Rational of_b = b.PerStep(row.b.attributed_ns);
  return of_a < of_b ? of_b : of_a;
}

CategoryGroup GroupOfOne(Category category) {
  return {
      std::string(IdOf(category)), std::string(TitleOf(category)), {category}};
}

bool Occurs(const CategoryComparison& row) {
  return row.a.count > 0 || row.b.count > 0;
}

}  // namespace

Gap SplitGap(Basis basis, const SideTotals& a, const SideTotals& b) {
  Gap gap;
  gap.basis = basis;
  gap.a_total = a.PerStep(a.headline_ns);
  gap.b_total = b.PerStep(b.headline_ns);
  gap.total = gap.b_total - gap.a_total;
  gap.idle_inside = Delta(a, a.idle_inside_ns, b, b.idle_inside_ns);
  const bool sums = SumsKnown(a, b);
  gap.concurrency_known = sums;
  gap.work = Delta(a, WorkOf(a.all, sums) - WorkOf(a.rank_wait, sums), b,
                   WorkOf(b.all, sums) - WorkOf(b.rank_wait, sums)) +
             gap.idle_inside;
  gap.rank_wait =
      Delta(a, a.rank_wait.attributed_ns, b, b.rank_wait.attributed_ns);
  if (sums)
    gap.concurrency =
        Delta(b, b.all.hidden_cross_lane_ns - b.rank_wait.hidden_cross_lane_ns,
              a, a.all.hidden_cross_lane_ns - a.rank_wait.hidden_cross_lane_ns);
  gap.foreign = Delta(a, a.foreign_ns, b, b.foreign_ns);
  gap.idle = Delta(a, a.idle_outside_ns, b, b.idle_outside_ns);
  const Rational parts =
      gap.work + gap.rank_wait + gap.concurrency + gap.foreign + gap.idle;
  if (!(parts == gap.total))
    throw ContractError("the parts of the gap do not add up to it");
  gap.slower = SlowerOf(gap.a_total, gap.b_total);
  return gap;
}

Side SlowerOf(Rational a_total, Rational b_total) {
  const Rational least = a_total < b_total ? a_total : b_total;
  const Rational apart = Magnitude(b_total - a_total);
  if (apart.num == 0 || apart < Rational{least.num / 200, least.den})
    return Side::kNeither;
  return b_total < a_total ? Side::kA : Side::kB;
}

CategoryComparison CompareGroup(const CategoryGroup& group, const SideTotals& a,
                                const SideTotals& b) {
  CategoryComparison row;
  row.id = group.id;
  row.title = group.title;
  for (const Category member : group.members) {
    row.a += a.categories[static_cast<size_t>(member)];
    row.b += b.categories[static_cast<size_t>(member)];
  }
  const bool sums = SumsKnown(a, b);
  row.work = Delta(a, WorkOf(row.a, sums), b, WorkOf(row.b, sums));
  if (sums)
    row.concurrency =
        Delta(b, row.b.hidden_cross_lane_ns, a, row.a.hidden_cross_lane_ns);
  return row;
}

std::vector<CategoryComparison> CompareCategories(const SideTotals& a,
                                                  const SideTotals& b) {
  std::vector<CategoryComparison> rows;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    CategoryComparison row = CompareGroup(GroupOfOne(category), a, b);
    if (Occurs(row)) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& x, const auto& y) {
    return LargerAttributed(y, a, b) < LargerAttributed(x, a, b);
  });
  return rows;
}

std::vector<GroupComparison> CompareGroups(
    const std::vector<CategoryGroup>& groups, bool with_parts,
    const SideTotals& a, const SideTotals& b) {
  std::vector<GroupComparison> rows;
  for (const CategoryGroup& group : groups) {
    GroupComparison row;
    row.whole = CompareGroup(group, a, b);
    if (!Occurs(row.whole)) continue;
    if (with_parts && group.members.size() > 1) {
      for (const Category member : group.members) {
        CategoryComparison part = CompareGroup(GroupOfOne(member), a, b);
        if (Occurs(part)) row.parts.push_back(std::move(part));
      }
    }
    // A group of one is that category, under its own name.
    if (row.parts.size() == 1) {
      row.whole = row.parts.front();
      row.parts.clear();
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& x, const auto& y) {
    return LargerAttributed(y.whole, a, b) < LargerAttributed(x.whole, a, b);
  });
  return rows;
}

}  // namespace inferdiff
