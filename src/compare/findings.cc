// SPDX-License-Identifier: Apache-2.0
#include "compare/findings.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "compare/sentences.h"
#include "compare/setup.h"

namespace inferdiff {
namespace {

// A part of the gap is worth a sentence from this share of it on.
constexpr int64_t kWorthNamingPercent = 5;
constexpr size_t kMaxContributors = 3;
// Overlap, copies and foreign work are worth one from this share of a step on.
constexpr int64_t kNoticeablePercent = 1;
constexpr int64_t kHostBoundPercent = 5;

class Collector {
 public:
  Finding& Add(std::string id, std::string text,
               HowKnown how = HowKnown::kMeasured) {
    findings_.push_back(
        {std::move(id), std::move(text), FindingKind::kResult, how, {}});
    return findings_.back();
  }
  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

std::string StepWord(Basis basis) {
  return basis == Basis::kWall ? "a step"
                               : fmt::format("of {}", TitleOf(basis));
}

/// B - A turned into "the slower side minus the faster".
Rational Oriented(const Gap& gap, Rational delta) {
  return gap.slower == Side::kA ? Negated(delta) : delta;
}

/// The parts that the slower side has most more of, largest first.
std::vector<GapPart> LargestParts(const CompareResult& result) {
  std::vector<GapPart> parts = result.gap_parts;
  std::stable_sort(
      parts.begin(), parts.end(), [&](const GapPart& x, const GapPart& y) {
        return Oriented(result.gap, y.delta) < Oriented(result.gap, x.delta);
      });
  return parts;
}

/// "Of that, 48 % is work: MoE, up to 21 % work: communication."
std::string Breakdown(const CompareResult& result) {
  constexpr size_t kMost = 3;
  const Rational whole = Magnitude(result.gap.total);
  std::string text;
  size_t named = 0;
  for (const GapPart& part : LargestParts(result)) {
    const Rational delta = Oriented(result.gap, part.delta);
    if (named == kMost || !AtLeastPercent(delta, whole, 10)) break;
    text += fmt::format("{}{}{} {}", named == 0 ? " Of that, " : ", ",
                        part.how == HowKnown::kBound ? "up to " : "",
                        Share(delta, whole, 0), part.title);
    ++named;
  }
  return named == 0 ? text : text + ".";
}

void FindSpeed(const CompareResult& result, Collector* out) {
  const Gap& gap = result.gap;
  const std::string unit = StepWord(gap.basis);
  if (gap.slower == Side::kNeither) {
    out->Add("same-speed",
             fmt::format("A and B take the same time: {} and {} {}.",
                         Duration(gap.a_total), Duration(gap.b_total), unit));
    return;
  }
  const bool a_slower = gap.slower == Side::kA;
  const Rational slow = a_slower ? gap.a_total : gap.b_total;
  const Rational fast = a_slower ? gap.b_total : gap.a_total;
  out->Add("faster",
           fmt::format("{} is {} \u00d7 slower than {}: {} {} against {}, {} "
                       "more.",
                       NameOf(gap.slower), Ratio(slow, fast),
                       NameOf(Other(gap.slower)), Duration(slow), unit,
                       Duration(fast), Duration(slow - fast)) +
               Breakdown(result));
}

/// What `side` has of a group: what its difference in work is made of.
Rational WorkTime(const SideTotals& side, const SideAmounts& amounts) {
  return side.PerStep(amounts.sum_ns - amounts.hidden_same_lane_ns);
}

const CategoryComparison* GroupById(const CompareResult& result,
                                    std::string_view part_id) {
  for (const GroupComparison& group : result.groups) {
    if (part_id == "work." + group.whole.id) return &group.whole;
  }
  return nullptr;
}

void AddContributor(const CompareResult& result, const GapPart& part,
                    bool slower_ahead, Collector* out) {
  const CategoryComparison* group = GroupById(result, part.id);
  if (group == nullptr) return;  // idle and the like have their own sentences
  const Gap& gap = result.gap;
  const bool a_slower = gap.slower == Side::kA;
  const Rational of_a = WorkTime(result.a_totals, group->a);
  const Rational of_b = WorkTime(result.b_totals, group->b);
  const Rational delta = Oriented(gap, part.delta);
  const std::string figures =
      fmt::format("{} on A, {} on B", Duration(of_a), Duration(of_b));
  if (slower_ahead) {
    out->Add("slower-ahead." + group->id,
             fmt::format("{}, the slower side, is ahead in {} by {} a step "
                         "({}).",
                         NameOf(gap.slower), group->title,
                         Duration(Negated(delta)), figures),
             part.how);
    return;
  }
  const bool only = (a_slower ? of_b : of_a).num == 0;
  Finding& finding = out->Add(
      "contributor." + group->id,
      only ? fmt::format("{} spends {} a step in {} and {} none: {} of the "
                         "gap.",
                         NameOf(gap.slower), Duration(delta), group->title,
                         NameOf(Other(gap.slower)),
                         Share(part.delta, gap.total, 0))
           : fmt::format("{} spends {} a step more in {} ({}): {} of the gap.",
                         NameOf(gap.slower), Duration(delta), group->title,
                         figures, Share(part.delta, gap.total, 0)),
      part.how);
  if (part.how == HowKnown::kMeasured) finding.prize = delta;
}

void FindContributors(const CompareResult& result, Collector* out) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither) return;
  const std::vector<GapPart> parts = LargestParts(result);
  const Rational whole = Magnitude(gap.total);
  size_t named = 0;
  for (const GapPart& part : parts) {
    if (GroupById(result, part.id) == nullptr) continue;
    if (named == kMaxContributors) break;
    if (!AtLeastPercent(Oriented(gap, part.delta), whole, kWorthNamingPercent))
      break;
    AddContributor(result, part, false, out);
    ++named;
  }
  named = 0;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Rational ahead = Negated(Oriented(gap, part->delta));
    if (named == kMaxContributors) break;
    if (!AtLeastPercent(ahead, whole, kWorthNamingPercent)) break;
    if (GroupById(result, part->id) == nullptr) continue;
    AddContributor(result, *part, true, out);
    ++named;
  }
}

void FindConcurrency(const CompareResult& result, Collector* out) {
  const SideView a = ViewOf(result, Side::kA);
  const SideView b = ViewOf(result, Side::kB);
  const Rational hidden_a = a.totals.PerStep(a.totals.all.hidden_cross_lane_ns);
  const Rational hidden_b = b.totals.PerStep(b.totals.all.hidden_cross_lane_ns);
  if (!AtLeastPercent(hidden_a, a.headline(), kNoticeablePercent) &&
      !AtLeastPercent(hidden_b, b.headline(), kNoticeablePercent))
    return;
  const Rational difference = Magnitude(hidden_b - hidden_a);
  std::string text = fmt::format("A runs {} a step beside other streams, B {}",
                                 Duration(hidden_a), Duration(hidden_b));
  const Side ahead = hidden_a < hidden_b ? Side::kB : Side::kA;
  if (difference.num != 0) {
    text += fmt::format(
        ": overlap is worth at most {} to {} (only switching it off measures "
        "it)",
        Duration(difference), NameOf(ahead));
  }
  out->Add("concurrency", text + ".", HowKnown::kBound);
}

void FindSameLane(const SideView& side, Collector* out) {
  const Rational hidden =
      side.totals.PerStep(side.totals.all.hidden_same_lane_ns);
  if (!AtLeastPercent(hidden, side.headline(), kNoticeablePercent)) return;
  out->Add(
      fmt::format("early-start.{}", side.name()),
      fmt::format("On {} kernels of one stream overlap by {} a step: each "
                  "starts early and waits for the one before (programmatic "
                  "dependent launch). The wait is not work; adding up "
                  "durations would count it twice.",
                  side.name(), Duration(hidden)));
}

void FindHostBound(const SideView& side, Collector* out) {
  const PerStep& per_step = side.ledger.per_step;
  if (per_step.idle_host_late.n == 0) return;
  const Rational late = per_step.idle_host_late.mean();
  if (!AtLeastPercent(late, side.headline(), kHostBoundPercent)) return;
  const bool eager = !RunsGraphs(side.ledger);
  out->Add(
      fmt::format("host-bound.{}", side.name()),
      fmt::format("{}'s GPU waits {} a step ({} of it) for the host to "
                  "launch the next kernel{}.",
                  side.name(), Duration(late), Share(late, side.headline(), 0),
                  eager ? "; the profiler slows every launch, so without "
                          "it the wait is shorter"
                        : ""),
      eager ? HowKnown::kBound : HowKnown::kMeasured);
}

void FindQueued(const SideView& side, Collector* out) {
  const PerStep& per_step = side.ledger.per_step;
  if (per_step.idle_queued.n == 0) return;
  const Rational queued = per_step.idle_queued.mean();
  if (!AtLeastPercent(queued, side.headline(), kHostBoundPercent)) return;
  out->Add(fmt::format("queued-idle.{}", side.name()),
           fmt::format("{}'s GPU is idle {} a step ({} of it) although the "
                       "next kernel is launched: dispatch gaps, or a wait on "
                       "another stream.",
                       side.name(), Duration(queued),
                       Share(queued, side.headline(), 0)));
}

/// Calls of a collective far beyond its median look like waiting: a transfer
/// of the same size takes the same time.
void FindRankWait(const SideView& side, Collector* out) {
  const KernelRow* worst = nullptr;
  int64_t worst_excess = 0;
  for (const KernelRow& kernel : side.ledger.kernels) {
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
  if (worst == nullptr || side.ledger.used_steps == 0) return;
  const Stat& call = worst->call_ns;
  out->Add(
      fmt::format("communication-waits.{}", side.name()),
      fmt::format("{}: {} takes {} at the median and {} at most; its calls "
                  "beyond the median cost about {} a step, which looks like "
                  "waiting for other ranks, not like transfer.",
                  side.name(), Quoted(worst->family),
                  Duration({call.median, 1}), Duration({call.max, 1}),
                  Duration({worst_excess, side.ledger.used_steps})),
      HowKnown::kEstimate);
}

/// "One fused kernel or five": how many operations do a group's work.
void FindCounts(const CompareResult& result, Collector* out) {
  constexpr int64_t kFewerPercent = 25;
  constexpr size_t kMaxGroups = 2;
  const SideTotals& a = result.a_totals;
  const SideTotals& b = result.b_totals;
  const auto per_step = [](const SideTotals& side, const SideAmounts& amounts) {
    return side.PerStep(amounts.count);
  };
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
    if (!matters || !differ(count_a, count_b, kFewerPercent)) continue;
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

void FindCopies(const SideView& side, Collector* out) {
  const Stat& copies = side.ledger.per_step.copy_only;
  if (copies.n == 0) return;
  if (!AtLeastPercent(copies.mean(), side.headline(), kNoticeablePercent))
    return;
  out->Add(fmt::format("copies.{}", side.name()),
           fmt::format("On {} only copies run for {} a step ({} of it).",
                       side.name(), Duration(copies.mean()),
                       Share(copies.mean(), side.headline(), 1)));
}

}  // namespace

std::vector<GapPart> PartsOfGap(const CompareResult& result) {
  const Gap& gap = result.gap;
  std::vector<GapPart> parts;
  for (const GroupComparison& group : result.groups) {
    // Communication holds what the ranks wait for each other.
    const bool waits = group.whole.id == IdOf(Category::kCommunication) &&
                       (result.a.source.info.world_size != 1 ||
                        result.b.source.info.world_size != 1);
    parts.push_back({"work." + group.whole.id, "work: " + group.whole.title,
                     group.whole.work,
                     waits ? HowKnown::kBound : HowKnown::kMeasured});
  }
  parts.push_back({"work.idle_inside", "work: idle inside replays",
                   gap.idle_inside, HowKnown::kMeasured});
  parts.push_back({"rank_wait", "waiting for the slowest rank", gap.rank_wait,
                   HowKnown::kBound});
  parts.push_back({"concurrency", "concurrency: hidden behind other streams",
                   gap.concurrency, HowKnown::kBound});
  parts.push_back({"foreign",
                   gap.basis == Basis::kReplaySpan
                       ? "other work during the replay"
                       : "foreign work",
                   gap.foreign, HowKnown::kMeasured});
  parts.push_back(
      {"idle", "idle outside replays", gap.idle, HowKnown::kMeasured});
  return parts;
}

std::vector<Finding> FindResults(const CompareResult& result) {
  Collector out;
  if (result.comparable.verdict == Comparability::kNo) return {};
  FindSpeed(result, &out);
  FindContributors(result, &out);
  FindConcurrency(result, &out);
  const SideView sides[] = {ViewOf(result, Side::kA), ViewOf(result, Side::kB)};
  for (const SideView& side : sides) FindSameLane(side, &out);
  if (result.gap.basis == Basis::kWall) {
    for (const SideView& side : sides) FindHostBound(side, &out);
    for (const SideView& side : sides) FindQueued(side, &out);
    for (const SideView& side : sides) FindCopies(side, &out);
  }
  for (const SideView& side : sides) FindRankWait(side, &out);
  FindCounts(result, &out);
  return out.Take();
}

}  // namespace inferdiff
