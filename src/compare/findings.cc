// SPDX-License-Identifier: Apache-2.0
#include "compare/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "base/text.h"
#include "compare/idle_findings.h"
#include "compare/role_excess.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

// Overlap, copies and foreign work are worth one from this share of a step on.
constexpr int64_t kNoticeablePercent = 1;

void FindSameLane(const SideView& side, FindingList* out) {
  const Rational hidden =
      side.totals.PerStep(side.totals.all.hidden_same_lane_ns);
  if (!AtLeastPercent(hidden, side.headline(), kNoticeablePercent)) return;
  out->Add(
      "early-start", side.side,
      fmt::format("On {} kernels of one stream overlap by {} a step: each "
                  "starts early and waits for the one before (programmatic "
                  "dependent launch). The wait is not work; adding up "
                  "durations would count it twice.",
                  side.name(), Duration(hidden)));
}

/// "One fused kernel or five": how many operations do a group's work.
void FindCounts(const CompareResult& result, FindingList* out) {
  constexpr int64_t kFewerPercent = 25;
  constexpr size_t kMaxGroups = 2;
  const SideTotals& a = result.a_totals;
  const SideTotals& b = result.b_totals;
  const auto per_step = [](const SideTotals& side, const SideAmounts& amounts) {
    return side.PerStep(amounts.count);
  };
  if (!a.counts_known || !b.counts_known) return;
  const Rational all_a = per_step(a, a.all), all_b = per_step(b, b.all);
  const auto differ = [](Rational x, Rational y, int64_t percent) {
    return AtLeastPercent(Magnitude(x - y), x < y ? y : x, percent);
  };
  if (differ(all_a, all_b, 10)) {
    const bool a_more = all_b < all_a;
    out->Add("kernel-count",
             fmt::format("{} runs {} GPU operations a step, {} {}: every one "
                         "costs a dispatch.",
                         NameOf(a_more ? Side::kA : Side::kB),
                         Decimal(a_more ? all_a : all_b, 0),
                         NameOf(a_more ? Side::kB : Side::kA),
                         Decimal(a_more ? all_b : all_a, 0)));
  }
  size_t named = 0;
  for (const GroupComparison& group : result.groups) {
    const CategoryComparison& row = group.whole;
    if (row.a.count == 0 || row.b.count == 0 || named == kMaxGroups) continue;
    const Rational count_a = per_step(a, row.a), count_b = per_step(b, row.b);
    const bool matters =
        AtLeastPercent(a.PerStep(row.a.attributed_ns), result.gap.a_total, 5) ||
        AtLeastPercent(b.PerStep(row.b.attributed_ns), result.gap.b_total, 5);
    if (!matters || !differ(count_a, count_b, kFewerPercent) ||
        IsFused(result, group))
      continue;
    out->Add("kernel-count." + row.id,
             fmt::format("{} is {} operations a step on A ({}) and {} on B "
                         "({}).",
                         row.title, Decimal(count_a, 0),
                         Duration(a.PerStep(row.a.attributed_ns)),
                         Decimal(count_b, 0),
                         Duration(b.PerStep(row.b.attributed_ns))));
    ++named;
  }
}

void FindCopies(const SideView& side, FindingList* out) {
  const Stat& copies = side.ledger.per_step.copy_only;
  if (copies.n == 0) return;
  if (!AtLeastPercent(copies.mean(), side.headline(), kNoticeablePercent))
    return;
  out->Add("copies", side.side,
           fmt::format("On {} only copies run for {} a step ({} of it).",
                       side.name(), Duration(copies.mean()),
                       Share(copies.mean(), side.headline(), 1)));
}

/// The headline, then what to start with: by prize, then what is only bounded,
/// then what to keep; then the rest, as found.
bool StartsBefore(const Finding& x, const Finding& y) {
  const auto rank = [](const Finding& one) {
    if (one.id == "faster" || one.id == "same-speed") return 0;
    if (one.advice.empty()) return 4;
    if (one.prize) return 1;
    return one.bound ? 2 : 3;
  };
  if (rank(x) != rank(y)) return rank(x) < rank(y);
  if (rank(x) == 1) return *y.prize < *x.prize;
  return rank(x) == 2 && *y.bound < *x.bound;
}

}  // namespace

std::optional<Wait> FindWait(const LedgerResult& ledger) {
  const KernelRow* worst = nullptr;
  int64_t worst_excess = 0;
  for (const KernelRow& kernel : ledger.kernels) {
    const Stat& call = kernel.call_ns;
    if (kernel.category != Category::kCommunication || call.n < 4) continue;
    // Half of the calls take the median or more: no overflow.
    const int64_t excess = call.total - call.median * (call.n / 2) -
                           call.median * (call.n - call.n / 2);
    if (call.max / 5 < call.median) continue;
    if (excess < call.total / 5 || excess <= worst_excess) continue;
    worst = &kernel;
    worst_excess = excess;
  }
  if (worst == nullptr || ledger.used_steps == 0) return std::nullopt;
  return Wait{worst, {worst_excess, ledger.used_steps}};
}

std::vector<Finding> FindResults(const CompareResult& result) {
  FindingList out(FindingKind::kResult);
  if (result.comparable.verdict == Comparability::kNo) return {};
  FindSpeed(result, &out);
  const std::vector<RoleExcess> excesses = FindRoleExcess(result);
  FindContributors(result, excesses, &out);
  FindOverlapWorth(result, &out);
  FindFusion(result, excesses, &out);
  FindSlowKernels(result, excesses, &out);
  FindIdle(result, &out);
  FindFloors(result, &out);
  FindMachineShare(result, &out);
  const SideView sides[] = {ViewOf(result, Side::kA), ViewOf(result, Side::kB)};
  for (const SideView& side : sides) FindSameLane(side, &out);
  if (result.gap.basis == Basis::kWall) {
    for (const SideView& side : sides) FindCopies(side, &out);
  }
  FindWaits(result, &out);
  FindCounts(result, &out);
  std::vector<Finding> findings = out.Take();
  std::stable_sort(findings.begin(), findings.end(), StartsBefore);
  return findings;
}

}  // namespace inferdiff
