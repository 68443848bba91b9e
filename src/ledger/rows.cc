// SPDX-License-Identifier: Apache-2.0
#include "ledger/rows.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/parallel.h"

namespace inferdiff {
namespace {

/// Indices of what occurs in the used steps, most attributed time first; equal
/// ones keep their order, which is by name.
template <typename AmountsOf>
std::vector<uint32_t> Ranked(size_t n, AmountsOf amounts_of) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < n; ++i)
    if (amounts_of(i).count > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return amounts_of(a).attributed_ns > amounts_of(b).attributed_ns;
  });
  return order;
}

}  // namespace

void FillCategories(const KernelTable& table, const StepAccounts& accounts,
                    LedgerResult* result) {
  for (size_t kernel = 0; kernel < table.kernels().size(); ++kernel)
    result->categories[table.category_of()[kernel]].Add(
        accounts.kernels()[kernel]);
  for (size_t category = 0; category < kCategoryCount; ++category)
    result->categories[category].exclusive_ns =
        accounts.exclusive().categories().sole_ns()[category];
}

std::vector<uint32_t> FillKernels(const KernelTable& table,
                                  const StepAccounts& accounts,
                                  const RuleSet& rules, LedgerResult* result) {
  const std::vector<Amounts>& amounts = accounts.kernels();
  std::vector<uint32_t> row_of(amounts.size(), kNone);
  for (const uint32_t kernel :
       Ranked(amounts.size(),
              [&](uint32_t i) -> const Amounts& { return amounts[i]; })) {
    const KernelTable::Kernel& source = table.kernels()[kernel];
    const RuleInfo& rule = rules.rules()[source.rule];
    KernelRow row;
    row.name = source.name->display;
    row.family = source.name->family;
    row.category = source.category;
    row.rule = rule.id;
    row.library = rule.library;
    row.amounts = amounts[kernel];
    row.amounts.exclusive_ns = accounts.exclusive().kernels().sole_ns()[kernel];
    row_of[kernel] = static_cast<uint32_t>(result->kernels.size());
    result->kernels.push_back(std::move(row));
  }
  return row_of;
}

void FillCallTimes(const StepOps& index, const KernelTable& table,
                   const std::vector<uint32_t>& row_of, unsigned threads,
                   bool keep_samples, LedgerResult* result) {
  // All durations in one array, by row.
  std::vector<KernelRow>& rows = result->kernels;
  std::vector<size_t> end(rows.size());
  std::vector<int64_t> times(index.size());
  for (size_t row = 1; row < rows.size(); ++row)
    end[row] = end[row - 1] + static_cast<size_t>(rows[row - 1].amounts.count);
  for (const uint32_t step : index.wanted())
    for (const uint32_t op : index.of(step))
      times[end[row_of[table.KernelOf(op)]]++] = index.trace().ops.dur_ns[op];
  InParallel(threads, [&](unsigned part) {
    for (size_t row = part; row < rows.size(); row += threads) {
      const auto n = static_cast<size_t>(rows[row].amounts.count);
      const auto calls = std::span(times).subspan(end[row] - n, n);
      if (keep_samples) rows[row].calls.Add(calls);
      rows[row].call_ns = SummariseInPlace(calls);
    }
  });
}

void FillFamilies(const KernelTable& table, const StepAccounts& accounts,
                  LedgerResult* result) {
  std::vector<FamilyRow> rows(table.families().size());
  for (size_t kernel = 0; kernel < table.kernels().size(); ++kernel) {
    const Amounts& amounts = accounts.kernels()[kernel];
    FamilyRow& row = rows[table.family_of()[kernel]];
    row.amounts.Add(amounts);
    if (amounts.count > 0) ++row.kernels;
  }
  for (const uint32_t family :
       Ranked(rows.size(),
              [&](uint32_t i) -> const Amounts& { return rows[i].amounts; })) {
    FamilyRow& row = rows[family];
    row.family = table.families()[family].family;
    row.category = table.families()[family].category;
    row.amounts.exclusive_ns =
        accounts.exclusive().families().sole_ns()[family];
    result->families.push_back(std::move(row));
  }
}

std::vector<RuleHits> HitsOf(const KernelTable& table, const RuleSet& rules) {
  std::vector<KernelTable::Use> uses = table.uses();
  const auto key = [](const KernelTable::Use& use) {
    return std::tuple(use.rule, use.category);
  };
  std::sort(uses.begin(), uses.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<RuleHits> hits;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == 0 || key(uses[i]) != key(uses[i - 1])) {
      hits.emplace_back();
      hits.back().rule = rules.rules()[uses[i].rule].id;
      hits.back().category = uses[i].category;
    }
    ++hits.back().names;
    hits.back().ops += uses[i].ops;
    hits.back().sum_ns += uses[i].sum_ns;
  }
  std::stable_sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) {
    return a.sum_ns > b.sum_ns;
  });
  return hits;
}

Coverage CoverageOf(const KernelTable& table, int64_t in_steps_ns,
                    const PerStep& per_step) {
  Coverage coverage;
  for (const KernelTable::Use& use : table.uses()) {
    coverage.total_ns += use.sum_ns;
    if (use.category == Category::kUnclassified)
      coverage.unclassified_ns += use.sum_ns;
    if (use.category == Category::kOther) coverage.other_ns += use.sum_ns;
  }
  coverage.foreign_ns = per_step.foreign.total;
  coverage.outside_steps_ns = coverage.total_ns - in_steps_ns;
  return coverage;
}

}  // namespace inferdiff
