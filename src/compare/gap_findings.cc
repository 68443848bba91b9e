// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "compare/findings.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

// A part of the gap is worth a sentence from this share of it on.
constexpr int64_t kWorthNamingPercent = 5;
constexpr size_t kMaxContributors = 3;

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

std::string_view SenseInWords(GapPart::Sense sense) {
  constexpr std::string_view kWords[] = {"", "up to ", "at least ", "about "};
  return kWords[static_cast<size_t>(sense)];
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
  // What is less than a tenth of the gap cancels nothing.
  if (whole < delta(first) && AtLeastPercent(Negated(delta(last)), whole, 10)) {
    return fmt::format(" Larger differences cancel in it: {} {}, {} {}.",
                       Phrase(first), SignedDuration(delta(first)),
                       Phrase(last), SignedDuration(delta(last)));
  }
  std::string text;
  size_t named = 0;
  for (const GapPart& part : parts) {
    if (named == kMost || !AtLeastPercent(delta(part), whole, 10)) break;
    text += fmt::format("{}{}{} % {}{}", named == 0 ? " Of that, " : ", ",
                        SenseInWords(part.sense), part.percent,
                        named == 0 ? "is " : "", Phrase(part));
    ++named;
  }
  return named == 0 ? text : text + ".";
}

/// Where waiting for other ranks looks like most of the gap, the headline is
/// no verdict on the platforms.
std::string Waiting(const CompareResult& result) {
  const Gap& gap = result.gap;
  const LedgerResult& slower = ViewOf(result, gap.slower).ledger;
  if (slower.wait_basis != WaitBasis::kUnknown) return {};  // a part of its own
  const auto wait = FindWait(slower);
  if (!wait) return {};
  const Rational less = std::min(wait->excess, Magnitude(gap.total));
  if (!AtLeastPercent(less, Magnitude(gap.total), 50)) return {};
  return fmt::format(
      " About {} of the gap looks like waiting for other ranks (estimate).",
      Duration(less));
}

/// "6.65 ms a step" or "a replay span of 6.65 ms".
std::string TimeOnBasis(Basis basis, Rational ns) {
  return basis == Basis::kWall
             ? Duration(ns) + " a step"
             : fmt::format("a {} of {}", TitleOf(basis), Duration(ns));
}

/// What `side` has of a group: what its difference in work is made of.
Rational WorkTime(const SideTotals& side, const SideAmounts& amounts) {
  return side.PerStep(amounts.sum_ns - amounts.hidden_same_lane_ns);
}

/// What both sides spend on a part of the gap, as a sentence names it.
struct Contribution {
  std::string verb;   // "spends", "is idle"
  std::string where;  // " in MoE", " outside replays"
  std::string a, b;   // "1.2 ms"
};

/// "at least 1.2 ms".
std::string WaitText(const SideTotals& side) {
  if (side.wait_basis == WaitBasis::kUnknown) return "unknown";
  return (IsMeasured(side.wait_basis) ? "" : "at least ") +
         Duration(side.PerStep(side.rank_wait.attributed_ns));
}

/// None for the parts that have sentences of their own.
std::optional<Contribution> ContributionOf(const CompareResult& result,
                                           const GapPart& part) {
  const SideTotals& a = result.a_totals;
  const SideTotals& b = result.b_totals;
  if (part.id == "idle") {
    return Contribution{"is idle",
                        result.gap.has_replays ? " outside replays" : "",
                        Duration(a.PerStep(a.idle_outside_ns)),
                        Duration(b.PerStep(b.idle_outside_ns))};
  }
  if (part.id == "rank_wait")
    return Contribution{"waits", " for other ranks", WaitText(a), WaitText(b)};
  for (const GroupComparison& group : result.groups) {
    if (part.id != "work." + group.whole.id) continue;
    return Contribution{"spends", " in " + group.whole.title,
                        Duration(WorkTime(a, group.whole.a)),
                        Duration(WorkTime(b, group.whole.b))};
  }
  return std::nullopt;
}

void AddContributor(const CompareResult& result, const GapPart& part,
                    const Contribution& of, FindingList* out) {
  const Gap& gap = result.gap;
  const Rational delta = Oriented(gap, part.delta);
  const bool slower_has_more = delta.num > 0;
  const std::string figures = fmt::format("{} on A, {} on B", of.a, of.b);
  if (!slower_has_more) {
    out->Add("slower-ahead." + part.id,
             fmt::format("{}, the slower side, {} {} a step less{} ({}).",
                         NameOf(gap.slower), of.verb, Duration(Negated(delta)),
                         of.where, figures),
             part.how);
    return;
  }
  Finding& finding = out->Add(
      "contributor." + part.id,
      fmt::format("{} {} {} a step more{} ({}): {} the gap.",
                  NameOf(gap.slower), of.verb, Duration(delta), of.where,
                  figures,
                  part.percent > 100 ? "more than"
                                     : fmt::format("{} % of", part.percent)),
      part.how);
  // What a profiler adds is in the idle time: no prize without a run of its
  // own.
  if (part.how == HowKnown::kMeasured && part.id != "idle")
    finding.prize = delta;
}

using Sense = GapPart::Sense;

/// One side's rank wait may be longer than it shows, and its communication
/// shorter by as much.
Sense SenseOfWait(const CompareResult& result, bool of_wait) {
  const bool a = IsMeasured(result.a_totals.wait_basis);
  const bool b = IsMeasured(result.b_totals.wait_basis);
  if (a && b) return Sense::kExact;
  if (!a && !b) return Sense::kRough;
  const Side minuend = result.gap.slower == Side::kA ? Side::kA : Side::kB;
  const bool of_minuend = (minuend == Side::kA) == b;
  return of_minuend == of_wait ? Sense::kLowerBound : Sense::kUpperBound;
}

/// Once for all places that print them.
void SetPercents(std::vector<GapPart>* parts) {
  std::vector<Rational> deltas;
  for (const GapPart& part : *parts) deltas.push_back(part.delta);
  const std::vector<int64_t> percents = PercentIntegers(deltas, 0);
  for (size_t i = 0; i < percents.size(); ++i)
    (*parts)[i].percent = percents[i];
}

}  // namespace

void FindSpeed(const CompareResult& result, FindingList* out) {
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
               Breakdown(result) + Waiting(result));
}

/// The parts that make the gap, then those that make it smaller.
void FindContributors(const CompareResult& result, FindingList* out) {
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

std::vector<GapPart> PartsOfGap(const CompareResult& result) {
  const Gap& gap = result.gap;
  std::vector<GapPart> parts;
  const HowKnown wait =
      WaitDifference(result.a_totals.wait_basis, result.b_totals.wait_basis);
  for (const GroupComparison& group : result.groups) {
    // Communication holds what is not known to be waiting.
    const bool waits = group.whole.id == IdOf(Category::kCommunication);
    parts.push_back({"work." + group.whole.id, "work: " + group.whole.title,
                     group.whole.work, waits ? wait : HowKnown::kMeasured,
                     waits ? SenseOfWait(result, false) : Sense::kExact});
  }
  parts.push_back({"work.idle_inside", "work: idle inside replays",
                   gap.idle_inside, HowKnown::kMeasured});
  parts.push_back({"rank_wait", "waiting for other ranks", gap.rank_wait, wait,
                   SenseOfWait(result, true)});
  parts.push_back({"concurrency", "concurrency", gap.concurrency,
                   HowKnown::kBound, Sense::kUpperBound});
  parts.push_back({"foreign",
                   gap.basis == Basis::kReplaySpan
                       ? "other work during the replay"
                       : "foreign work",
                   gap.foreign, HowKnown::kMeasured});
  parts.push_back({"idle", IdleTitle(gap), gap.idle, HowKnown::kMeasured});
  SetPercents(&parts);
  return parts;
}

}  // namespace inferdiff
