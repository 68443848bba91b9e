// SPDX-License-Identifier: Apache-2.0
#include "compare/causes.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "base/number.h"
#include "base/wide.h"
#include "compare/findings.h"
#include "compare/gap.h"
#include "compare/sentences.h"
#include "compare/side.h"

namespace inferdiff {
namespace {

constexpr Rational kZero{0, 1};

/// What a side has of each part of PartsOf, totals in its order. They add
/// up to the headline.
std::vector<int64_t> PartTotals(const std::vector<GroupComparison>& groups,
                                bool sums_known, bool is_a,
                                const SideTotals& side) {
  const auto work = [&](const SideAmounts& row) {
    return sums_known ? row.sum_ns - row.hidden_same_lane_ns
                      : row.attributed_ns;
  };
  std::vector<int64_t> totals;
  for (const GroupComparison& group : groups)
    totals.push_back(work(is_a ? group.whole.a : group.whole.b));
  totals.push_back(side.idle_inside_ns);
  totals.push_back(side.rank_wait.attributed_ns);
  if (sums_known)
    totals.push_back(side.rank_wait.hidden_cross_lane_ns -
                     side.all.hidden_cross_lane_ns);
  totals.push_back(side.foreign_ns);
  totals.push_back(side.idle_outside_ns);
  return totals;
}

/// Shares `whole` out in proportion, to the ns, by largest remainder.
std::vector<int64_t> ShareOut(int64_t whole,
                              const std::vector<int64_t>& parts) {
  Wide of = 0;
  for (const int64_t part : parts) of += part;
  if (of <= 0) return {};
  std::vector<int64_t> shares;
  std::vector<std::pair<Wide, size_t>> remainders;
  int64_t left = whole;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Wide product = Wide{parts[i]} * whole;
    Wide share = product / of;
    if (share * of > product) --share;  // down, below zero too
    shares.push_back(static_cast<int64_t>(share));
    remainders.emplace_back(product - share * of, i);
    left -= shares.back();
  }
  std::stable_sort(
      remainders.begin(), remainders.end(),
      [](const auto& x, const auto& y) { return y.first < x.first; });
  for (size_t i = 0; i < remainders.size() && left > 0; ++i, --left)
    ++shares[remainders[i].second];
  return shares;
}

/// The step times of both sides as serial as they are known, untraced.
struct BaseTimes {
  int64_t a = 0, b = 0;
};

std::optional<BaseTimes> UntracedBase(const CompareResult& result,
                                      const CompareOptions& options) {
  const UntracedTimes& plain = options.untraced;
  const UntracedTimes& serial = options.untraced_serial;
  if (result.gap.basis != Basis::kWall || !plain.a || !plain.b) return {};
  if ((result.serial_a && !serial.a) || (result.serial_b && !serial.b))
    return {};
  return BaseTimes{result.serial_a ? *serial.a : *plain.a,
                   result.serial_b ? *serial.b : *plain.b};
}

/// A part for the overlap of one side: what it saves A makes B - A larger.
/// By the ledgers alone it is a bound.
GapPart OverlapPart(Side side, const MeasuredOverlap& measured, Side slower) {
  const std::string name(NameOf(side));
  GapPart part;
  part.id = "overlap." + name;
  part.title = fmt::format("overlap on {}", name);
  part.delta = side == Side::kA ? measured.worth : Negated(measured.worth);
  if (measured.untraced) return part;
  const Side minuend = slower == Side::kA ? Side::kA : Side::kB;
  part.how = HowKnown::kBound;
  part.sense = side == minuend ? GapPart::Sense::kLowerBound
                               : GapPart::Sense::kUpperBound;
  return part;
}

GapPart* FindPart(std::vector<GapPart>* parts, std::string_view id) {
  const auto found =
      std::find_if(parts->begin(), parts->end(),
                   [&](const GapPart& part) { return part.id == id; });
  return found == parts->end() ? nullptr : &*found;
}

void AddScaled(const BaseTimes& times, Causes* causes) {
  const bool sums = causes->residual.concurrency_known;
  const std::vector<int64_t> a =
      ShareOut(times.a, PartTotals(causes->groups, sums, true, causes->a_base));
  const std::vector<int64_t> b = ShareOut(
      times.b, PartTotals(causes->groups, sums, false, causes->b_base));
  if (a.size() != causes->parts.size() || b.size() != a.size()) return;
  for (size_t i = 0; i < a.size(); ++i)
    causes->parts[i].scaled = Rational{CheckedSub(b[i], a[i]), 1};
}

void CheckParts(const Causes& causes) {
  Rational sum = kZero;
  for (const GapPart& part : causes.parts) sum = sum + part.delta;
  if (!(sum == causes.total))
    throw ContractError("the causes do not add up to the gap");
}

void SplitFloors(const CompareResult& result, Causes* causes) {
  const SideTotals& a = causes->a_base;
  const SideTotals& b = causes->b_base;
  const LedgerResult& ledger_a = result.serial_a ? *result.serial_a : result.a;
  const LedgerResult& ledger_b = result.serial_b ? *result.serial_b : result.b;
  causes->not_separable = FloorDoubt("A", ledger_a, a, causes->floors.a);
  if (causes->not_separable.empty())
    causes->not_separable = FloorDoubt("B", ledger_b, b, causes->floors.b);
  if (!causes->not_separable.empty()) return;
  const auto split = [&](Rational work, int64_t ops_a, int64_t ops_b) {
    return SplitByFloor(work, a.PerStep(ops_a), b.PerStep(ops_b),
                        *causes->floors.a, *causes->floors.b);
  };
  causes->work = split(causes->residual.work, a.all.count, b.all.count);
  for (const GroupComparison& group : causes->groups) {
    causes->by_group.push_back(
        split(group.whole.work, group.whole.a.count, group.whole.b.count));
  }
  for (const AlignedRow& row : result.alignment.rows) {
    causes->by_role.push_back(SplitByFloor(
        {CheckedSub(row.b.attributed_ns, row.a.attributed_ns), 1},
        {row.a.ops, 1}, {row.b.ops, 1}, *causes->floors.a, *causes->floors.b));
  }
}

}  // namespace

Causes FindCauses(const CompareResult& result, const CompareOptions& options) {
  const Gap& gap = result.gap;
  const auto base = UntracedBase(result, options);
  Causes causes;
  causes.floors = options.floors;
  causes.untraced = base.has_value();
  causes.a_base =
      result.serial_a ? TotalsOn(gap.basis, *result.serial_a) : result.a_totals;
  causes.b_base =
      result.serial_b ? TotalsOn(gap.basis, *result.serial_b) : result.b_totals;
  const auto overlap = [&](const LedgerResult& ledger, const SideTotals& totals,
                           const std::optional<LedgerResult>& serial,
                           const SideTotals& serial_totals,
                           std::optional<int64_t> plain,
                           std::optional<int64_t> without) {
    if (!base) plain.reset();
    return FindOverlap(ledger, totals, serial ? &*serial : nullptr,
                       serial_totals, plain, without);
  };
  causes.a = overlap(result.a, result.a_totals, result.serial_a, causes.a_base,
                     options.untraced.a, options.untraced_serial.a);
  causes.b = overlap(result.b, result.b_totals, result.serial_b, causes.b_base,
                     options.untraced.b, options.untraced_serial.b);
  causes.residual = SplitGap(gap.basis, causes.a_base, causes.b_base);
  causes.residual.slower = gap.slower;
  causes.residual.has_replays = gap.has_replays;
  causes.idle = IdleParts(causes.a_base, causes.b_base);
  causes.groups =
      CompareGroups(result.row_groups, false, causes.a_base, causes.b_base);
  causes.a_total = base ? Rational{*options.untraced.a, 1} : gap.a_total;
  causes.b_total = base ? Rational{*options.untraced.b, 1} : gap.b_total;
  causes.total = causes.b_total - causes.a_total;
  causes.parts =
      PartsOf(causes.residual, causes.groups, causes.a_base, causes.b_base);
  if (base) {
    AddScaled(*base, &causes);
  } else if (GapPart* idle = FindPart(&causes.parts, "idle")) {
    // Measured overlap is without it.
    idle->delta = gap.idle;
  }
  if (causes.a.measured)
    causes.parts.push_back(
        OverlapPart(Side::kA, *causes.a.measured, gap.slower));
  if (causes.b.measured)
    causes.parts.push_back(
        OverlapPart(Side::kB, *causes.b.measured, gap.slower));
  if (base) {
    GapPart rest;
    rest.id = "untraced";
    rest.title = "not in the ledgers";
    rest.delta =
        Rational{CheckedSub(base->b, base->a), 1} - causes.residual.total;
    causes.parts.push_back(std::move(rest));
  }
  CheckParts(causes);
  SetPercents(&causes.parts);
  SplitFloors(result, &causes);
  return causes;
}

}  // namespace inferdiff
