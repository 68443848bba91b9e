// SPDX-License-Identifier: Apache-2.0
// Where to start: overlap, fusion, the floor that each operation costs.
#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "compare/findings.h"
#include "compare/role_excess.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

// Overlap is worth a sentence from this share of a step on.
constexpr int64_t kNoticeablePercent = 1;
// Counts that differ by less are the same way of doing it.
constexpr int64_t kOtherCountPercent = 10;

constexpr std::string_view kOverlapAdvice =
    "run the side work on a second stream where a fork and join in a graph "
    "costs no more than a chain does; else fold it into its neighbours";

Rational HiddenTime(const SideView& side) {
  return side.totals.PerStep(side.totals.all.hidden_cross_lane_ns);
}

/// " Most is hidden of `x` (212 us), `y` (90 us)." By kernels, or by the rows
/// of a table.
std::string MostHidden(const CompareResult& result, Side side) {
  constexpr size_t kNamed = 3;
  const SideView view = ViewOf(result, side);
  std::vector<std::pair<int64_t, std::string>> rows;
  for (const FamilyAmounts& family :
       side == Side::kA ? result.a_families : result.b_families)
    rows.emplace_back(family.amounts.hidden_cross_lane_ns,
                      Quoted(family.family));
  if (rows.empty()) {
    for (const GroupComparison& group : result.groups) {
      const SideAmounts& amounts =
          side == Side::kA ? group.whole.a : group.whole.b;
      rows.emplace_back(amounts.hidden_cross_lane_ns, group.whole.title);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return y.first < x.first;
  });
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), kNamed); ++i) {
    if (rows[i].first == 0) break;
    text += fmt::format("{}{} ({})", i == 0 ? " Most is hidden of " : ", ",
                        rows[i].second,
                        Duration(view.totals.PerStep(rows[i].first)));
  }
  return text.empty() ? text : text + ".";
}

/// "; the serial layout runs 196 more operations". What else changed with the
/// layout is in the worth, too.
std::string WhatElse(const MeasuredOverlap& measured) {
  std::string text;
  if (measured.more_ops && measured.more_ops->num != 0) {
    const bool more = measured.more_ops->num > 0;
    text += fmt::format(
        " Without them it runs {} {} operations a step, which "
        "is part of that.",
        CountText(Magnitude(*measured.more_ops)), more ? "more" : "fewer");
  }
  if (!measured.untraced && measured.more_idle.num != 0) {
    text += fmt::format(
        " Its idle time outside replays changes by {}, which "
        "is not: a profiler lengthens it.",
        SignedDuration(measured.more_idle));
  }
  if (measured.dilation && measured.dilation->num > 0) {
    text += fmt::format(
        " The same kernels take {} longer beside others than "
        "alone ({} of {}): hidden time is not time saved.",
        Duration(*measured.dilation),
        Share(*measured.dilation, *measured.alone, 0),
        Duration(*measured.alone));
  }
  return text;
}

void AddMeasured(const CompareResult& result, Side side, const Overlap& overlap,
                 FindingList* out) {
  const MeasuredOverlap& measured = *overlap.measured;
  std::string text = fmt::format(
      "Without its side streams {} takes {} a step {}{}.", NameOf(side),
      Duration(Magnitude(measured.worth)),
      measured.worth.num < 0 ? "less" : "more",
      measured.untraced ? ", timed without the profiler" : " by its ledgers");
  if (overlap.bound && overlap.bound->num > 0)
    text += fmt::format(" It hides {} beside other streams.",
                        Duration(*overlap.bound));
  if (!measured.untraced)
    text +=
        " A profiler adds to every operation, most where nothing runs beside "
        "it: without it this is less.";
  Finding& finding = out->Add(
      "overlap", side, text + WhatElse(measured) + MostHidden(result, side),
      measured.untraced ? HowKnown::kMeasured : HowKnown::kBound);
  if (side != Other(result.gap.slower) || measured.worth.num <= 0) return;
  (measured.untraced ? finding.prize : finding.bound) = measured.worth;
  finding.advice = kOverlapAdvice;
}

/// Of what is not measured, the difference of the bounds.
void AddBound(const CompareResult& result, FindingList* out) {
  const SideView a = ViewOf(result, Side::kA);
  const SideView b = ViewOf(result, Side::kB);
  const Rational hidden_a = HiddenTime(a), hidden_b = HiddenTime(b);
  if (!AtLeastPercent(hidden_a, a.headline(), kNoticeablePercent) &&
      !AtLeastPercent(hidden_b, b.headline(), kNoticeablePercent))
    return;
  const auto time = [](const SideView& side, Rational hidden) {
    if (!side.totals.sums_known) return std::string("an unknown time");
    return hidden.num == 0 ? std::string("nothing")
                           : Duration(hidden) + " a step";
  };
  const Side ahead = hidden_a < hidden_b ? Side::kB : Side::kA;
  const Rational difference = Magnitude(hidden_b - hidden_a);
  std::string text = fmt::format("A runs {} beside other streams, B {}",
                                 time(a, hidden_a), time(b, hidden_b));
  if (difference.num != 0) {
    text += fmt::format(
        ": overlap is worth at most {}{} to {} (only switching it off "
        "measures it)",
        Duration(difference),
        hidden_a.num > 0 && hidden_b.num > 0 ? " more" : "", NameOf(ahead));
  }
  Finding& finding = out->Add(
      "concurrency", text + "." + MostHidden(result, ahead), HowKnown::kBound);
  if (ahead != Other(result.gap.slower) || difference.num == 0) return;
  finding.bound = difference;
  finding.advice = kOverlapAdvice;
}

/// A side's operations a step, in the layout that the causes rest on.
Rational OpsOf(const CompareResult& result, Side side) {
  const SideTotals& totals =
      side == Side::kA ? result.causes.a_base : result.causes.b_base;
  return totals.PerStep(totals.all.count);
}

/// A group's difference in attributed time, B - A.
Rational AttributedOf(const CompareResult& result,
                      const GroupComparison& group) {
  const Causes& causes = result.causes;
  return causes.b_base.PerStep(group.whole.b.attributed_ns) -
         causes.a_base.PerStep(group.whole.a.attributed_ns);
}

}  // namespace

void FindOverlapWorth(const CompareResult& result, FindingList* out) {
  const Causes& causes = result.causes;
  if (causes.a.measured) AddMeasured(result, Side::kA, causes.a, out);
  if (causes.b.measured) AddMeasured(result, Side::kB, causes.b, out);
  if (!causes.a.measured && !causes.b.measured) AddBound(result, out);
}

bool AttributedAgrees(const CompareResult& result, const GroupComparison& group,
                      Rational work) {
  const Rational attributed = AttributedOf(result, group);
  return work.num < 0 ? AtLeastPercent(Negated(attributed), Negated(work), 50)
                      : AtLeastPercent(attributed, work, 50);
}

bool IsFused(const CompareResult& result, const GroupComparison& group) {
  const Causes& causes = result.causes;
  if (!causes.a_base.counts_known || !causes.b_base.counts_known ||
      result.a.published || result.b.published || StragglerHolds(result, group))
    return false;
  const auto differ = [](Rational x, Rational y) {
    return AtLeastPercent(Magnitude(x - y), x < y ? y : x, kOtherCountPercent);
  };
  const Rational a = OpsOf(result, Side::kA), b = OpsOf(result, Side::kB);
  const auto has_more = [&](Rational of_a, Rational of_b) {
    return (of_a < of_b ? Side::kB : Side::kA) == result.gap.slower;
  };
  const Rational ops_a = causes.a_base.PerStep(group.whole.a.count);
  const Rational ops_b = causes.b_base.PerStep(group.whole.b.count);
  if (!has_more(a, b) || !differ(a, b) || !differ(ops_a, ops_b)) return false;
  // Where the slower side runs fewer of them and takes longer, they are slow.
  return has_more(ops_a, ops_b) ||
         !(Rational{0, 1} < Oriented(result.gap, group.whole.work));
}

/// What one side does in fewer, larger operations. Their work moves between
/// categories, so those that differ are taken together, with the gaps between
/// replayed operations that fewer operations save.
void FindFusion(const CompareResult& result,
                const std::vector<RoleExcess>& excesses, FindingList* out) {
  const Causes& causes = result.causes;
  const Gap& gap = result.gap;
  Rational work{0, 1}, attributed{0, 1};
  std::string groups;
  for (const GroupComparison& group : causes.groups) {
    if (!IsFused(result, group)) continue;
    work = work + Oriented(gap, group.whole.work);
    attributed = attributed + Oriented(gap, AttributedOf(result, group));
    groups +=
        fmt::format("{}{} ({} on A, {} on B)", groups.empty() ? "" : ", ",
                    group.whole.title,
                    CountText(causes.a_base.PerStep(group.whole.a.count)),
                    CountText(causes.b_base.PerStep(group.whole.b.count)));
  }
  if (groups.empty()) return;
  const Rational gaps = Oriented(gap, causes.residual.idle_inside);
  const Rational prize = work + gaps;
  if (prize.num <= 0 ||
      !AtLeastPercent(prize, Magnitude(causes.total), kNoticeablePercent))
    return;
  Finding& finding = out->Add(
      "fusion",
      fmt::format("{} does in {} operations a step what {} does in {}: {}. "
                  "Their work differs by {}{}.",
                  NameOf(gap.slower), CountText(OpsOf(result, gap.slower)),
                  NameOf(Other(gap.slower)),
                  CountText(OpsOf(result, Other(gap.slower))), groups,
                  SignedDuration(work),
                  gaps.num == 0
                      ? std::string()
                      : ", and the gaps between replayed operations by " +
                            SignedDuration(gaps)));
  // What runs beside other streams already is not gained.
  if (!AtLeastPercent(attributed, work, 50)) return;
  finding.prize = prize;
  AddChains(result, excesses, &finding);
  finding.advice =
      "fuse the chains of small operations that the other side "
      "runs as one";
}

/// What the floor makes of the difference in work, count and price together.
void FindFloors(const CompareResult& result, FindingList* out) {
  const Causes& causes = result.causes;
  const Gap& gap = result.gap;
  if (!causes.not_separable.empty() || gap.slower == Side::kNeither) return;
  const Rational prize = Oriented(gap, causes.work.count + causes.work.price);
  if (prize.num <= 0 ||
      !AtLeastPercent(prize, Magnitude(causes.total), kNoticeablePercent))
    return;
  const bool a_slower = gap.slower == Side::kA;
  const Rational floor = a_slower ? *causes.floors.a : *causes.floors.b;
  const Rational other = a_slower ? *causes.floors.b : *causes.floors.a;
  const auto layout = [&](Side side) {
    return (side == Side::kA ? result.serial_a : result.serial_b)
               ? " without its side streams"
               : "";
  };
  const auto least = [&](Side side, Rational one) {
    return Duration(OpsOf(result, side) * one);
  };
  Finding& finding = out->Add(
      "floor",
      fmt::format(
          "{} runs {} operations a step{} and {} {}{}. At their floors alone "
          "that is {} against {}: {} by their number, {} by the price of each. "
          "It is part of the work of the categories. One operation less saves "
          "{} at least {}, and {} {}.",
          NameOf(gap.slower), CountText(OpsOf(result, gap.slower)),
          layout(gap.slower), NameOf(Other(gap.slower)),
          CountText(OpsOf(result, Other(gap.slower))),
          layout(Other(gap.slower)), least(gap.slower, floor),
          least(Other(gap.slower), other),
          SignedDuration(Oriented(gap, causes.work.count)),
          SignedDuration(Oriented(gap, causes.work.price)), NameOf(gap.slower),
          Duration(floor), NameOf(Other(gap.slower)), Duration(other)),
      HowKnown::kEstimate);
  finding.prize = prize;
  finding.advice =
      "fuse small operations; the floor itself is the runtime's to lower";
}

}  // namespace inferdiff
