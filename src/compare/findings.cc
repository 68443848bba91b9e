// SPDX-License-Identifier: Apache-2.0
#include "compare/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

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

/// "work: MoE" within a sentence.
std::string_view Phrase(const GapPart& part) {
  constexpr std::string_view kWork = "work: ";
  std::string_view phrase = part.title;
  if (phrase.starts_with(kWork)) phrase.remove_prefix(kWork.size());
  return phrase;
}

/// "Of that, 48 % is MoE, up to 21 % communication." Where parts are larger
/// than the gap itself, shares of it would say nothing.
std::string Breakdown(const CompareResult& result) {
  constexpr size_t kMost = 3;
  const Gap& gap = result.gap;
  const Rational whole = Magnitude(gap.total);
  const std::vector<GapPart> parts = LargestParts(result);
  if (parts.empty()) return {};
  const auto delta = [&](const GapPart& part) {
    return Oriented(gap, part.delta);
  };
  const GapPart& first = parts.front();
  const GapPart& last = parts.back();
  if (whole < delta(first) && delta(last).num < 0) {
    return fmt::format(" Larger differences cancel in it: {} {}, {} {}.",
                       Phrase(first), SignedDuration(delta(first)),
                       Phrase(last), SignedDuration(delta(last)));
  }
  std::string text;
  size_t named = 0;
  for (const GapPart& part : parts) {
    if (named == kMost || !AtLeastPercent(delta(part), whole, 10)) break;
    text += fmt::format("{}{}{} {}{}", named == 0 ? " Of that, " : ", ",
                        part.how == HowKnown::kBound ? "up to " : "",
                        Share(delta(part), whole, 0), named == 0 ? "is " : "",
                        Phrase(part));
    ++named;
  }
  return named == 0 ? text : text + ".";
}

/// "6.65 ms a step" or "a replay span of 6.65 ms".
std::string TimeOnBasis(Basis basis, Rational ns) {
  return basis == Basis::kWall
             ? Duration(ns) + " a step"
             : fmt::format("a {} of {}", TitleOf(basis), Duration(ns));
}

void FindSpeed(const CompareResult& result, Collector* out) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither) {
    out->Add("same-speed", fmt::format("A and B take the same time: {} and {}.",
                                       TimeOnBasis(gap.basis, gap.a_total),
                                       Duration(gap.b_total)));
    return;
  }
  const bool a_slower = gap.slower == Side::kA;
  const Rational slow = a_slower ? gap.a_total : gap.b_total;
  const Rational fast = a_slower ? gap.b_total : gap.a_total;
  // Below 1.1 a factor hides its only digit that counts.
  const std::string factor = AtLeastPercent(slow - fast, fast, 10)
                                 ? Ratio(slow, fast) + " \u00d7"
                                 : Share(slow - fast, fast, 1);
  out->Add("faster",
           fmt::format("{} is {} slower than {}: {} against {}, {} more.",
                       NameOf(gap.slower), factor, NameOf(Other(gap.slower)),
                       TimeOnBasis(gap.basis, slow), Duration(fast),
                       Duration(slow - fast)) +
               (WithinSpread(result) ? " Single steps differ by more." : "") +
               Breakdown(result));
}

/// What `side` has of a group: what its difference in work is made of.
Rational WorkTime(const SideTotals& side, const SideAmounts& amounts) {
  return side.PerStep(amounts.sum_ns - amounts.hidden_same_lane_ns);
}

/// What both sides spend on a part of the gap, as a sentence names it.
struct Contribution {
  std::string what;  // "in MoE", "idle outside replays"
  Rational a, b;
};

/// None for the parts that have sentences of their own.
std::optional<Contribution> ContributionOf(const CompareResult& result,
                                           const GapPart& part) {
  const SideTotals& a = result.a_totals;
  const SideTotals& b = result.b_totals;
  if (part.id == "idle") {
    return Contribution{IdleTitle(result.gap), a.PerStep(a.idle_outside_ns),
                        b.PerStep(b.idle_outside_ns)};
  }
  for (const GroupComparison& group : result.groups) {
    if (part.id != "work." + group.whole.id) continue;
    return Contribution{"in " + group.whole.title, WorkTime(a, group.whole.a),
                        WorkTime(b, group.whole.b)};
  }
  return std::nullopt;
}

void AddContributor(const CompareResult& result, const GapPart& part,
                    const Contribution& of, Collector* out) {
  const Gap& gap = result.gap;
  const Rational delta = Oriented(gap, part.delta);
  const bool slower_has_more = delta.num > 0;
  const std::string figures =
      fmt::format("{} on A, {} on B", Duration(of.a), Duration(of.b));
  if (!slower_has_more) {
    out->Add("slower-ahead." + part.id,
             fmt::format("{}, the slower side, spends {} a step less {} ({}).",
                         NameOf(gap.slower), Duration(Negated(delta)), of.what,
                         figures),
             part.how);
    return;
  }
  const Rational whole = Magnitude(gap.total);
  Finding& finding = out->Add(
      "contributor." + part.id,
      fmt::format("{} spends {} a step more {} ({}): {} the gap.",
                  NameOf(gap.slower), Duration(delta), of.what, figures,
                  whole < delta ? "more than" : Share(delta, whole, 0) + " of"),
      part.how);
  if (part.how == HowKnown::kMeasured) finding.prize = delta;
}

/// The parts that make the gap, then those that make it smaller.
void FindContributors(const CompareResult& result, Collector* out) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither) return;
  std::vector<GapPart> parts = LargestParts(result);
  const Rational whole = Magnitude(gap.total);
  for (const bool more : {true, false}) {
    size_t named = 0;
    for (const GapPart& part : parts) {
      const Rational delta = Oriented(gap, part.delta);
      const auto of = ContributionOf(result, part);
      if (!of || named == kMaxContributors) continue;
      if (!AtLeastPercent(more ? delta : Negated(delta), whole,
                          kWorthNamingPercent))
        continue;
      AddContributor(result, part, *of, out);
      ++named;
    }
    std::reverse(parts.begin(), parts.end());
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
  parts.push_back(
      {"concurrency", "concurrency", gap.concurrency, HowKnown::kBound});
  parts.push_back({"foreign",
                   gap.basis == Basis::kReplaySpan
                       ? "other work during the replay"
                       : "foreign work",
                   gap.foreign, HowKnown::kMeasured});
  parts.push_back({"idle", IdleTitle(gap), gap.idle, HowKnown::kMeasured});
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
