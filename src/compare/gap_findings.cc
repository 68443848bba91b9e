// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "base/text.h"
#include "compare/dive.h"
#include "compare/findings.h"
#include "compare/idle_findings.h"
#include "compare/role_excess.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

// A part of the gap is worth a sentence from this share of it on.
constexpr int64_t kWorthNamingPercent = 5;
constexpr size_t kMaxContributors = 3;

/// The parts that the slower side has most more of, largest first.
std::vector<GapPart> LargestParts(const CompareResult& result) {
  std::vector<GapPart> parts = result.causes.parts;
  std::stable_sort(
      parts.begin(), parts.end(), [&](const GapPart& x, const GapPart& y) {
        return Oriented(result.gap, y.delta) < Oriented(result.gap, x.delta);
      });
  return parts;
}

/// "work: MoE" within a sentence.
std::string_view Phrase(const GapPart& part) {
  std::string_view phrase = part.title;
  for (const std::string_view what : {kWorkPrefix, kTimePrefix})
    if (phrase.starts_with(what)) phrase.remove_prefix(what.size());
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
  const Rational whole = Magnitude(result.causes.total);
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
  const Rational less = std::min(wait->excess, Magnitude(result.causes.total));
  if (!AtLeastPercent(less, Magnitude(result.causes.total), 50)) return {};
  return fmt::format(
      " About {} of the gap looks like waiting for other ranks (estimate).",
      Duration(less));
}

/// "6.65 ms a step" or "a replay span of 6.65 ms".
std::string TimeOnBasis(const CompareResult& result, Rational ns) {
  const Basis basis = result.gap.basis;
  if (result.causes.untraced)
    return Duration(ns) + " a step without the profiler";
  return basis == Basis::kWall
             ? Duration(ns) + " a step"
             : fmt::format("a {} of {}", TitleOf(basis), Duration(ns));
}

/// What `side` has of a group: what its difference in work is made of.
Rational WorkTime(const CompareResult& result, const SideTotals& side,
                  const SideAmounts& amounts) {
  return side.PerStep(result.causes.residual.concurrency_known
                          ? amounts.sum_ns - amounts.hidden_same_lane_ns
                          : amounts.attributed_ns);
}

/// What both sides spend on a part of the gap, as a sentence names it.
struct Contribution {
  std::string verb;   // "spends", "is idle"
  std::string where;  // " in MoE", " outside replays"
  std::string a, b;   // "1.2 ms"
  const GroupComparison* group = nullptr;
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
  const SideTotals& a = result.causes.a_base;
  const SideTotals& b = result.causes.b_base;
  if (part.id == "idle") {
    // As FindCauses has it: by ledgers alone, what another layout changes in
    // it is the profiler's.
    const bool serial = result.causes.untraced;
    const SideTotals& idle_a = serial ? a : result.a_totals;
    const SideTotals& idle_b = serial ? b : result.b_totals;
    return Contribution{"is idle",
                        result.gap.has_replays ? " outside replays" : "",
                        Duration(idle_a.PerStep(idle_a.idle_outside_ns)),
                        Duration(idle_b.PerStep(idle_b.idle_outside_ns))};
  }
  if (part.id == "rank_wait")
    return Contribution{"waits", " for other ranks", WaitText(a), WaitText(b)};
  for (const GroupComparison& group : result.causes.groups) {
    if (part.id != "work." + group.whole.id) continue;
    return Contribution{"spends", " in " + group.whole.title,
                        Duration(WorkTime(result, a, group.whole.a)),
                        Duration(WorkTime(result, b, group.whole.b)), &group};
  }
  return std::nullopt;
}

/// What a profiler adds is in the idle time: no prize without step times that
/// were taken without it, and no more than these leave. Nor where what makes it
/// has a finding of its own.
void SetIdlePrize(const CompareResult& result, Rational delta,
                  Finding* finding) {
  if (!result.causes.untraced || !IdleGains(result).empty()) return;
  for (const GapPart& part : result.causes.parts)
    if (part.id == "untraced")
      delta = std::min(delta, delta + Oriented(result.gap, part.delta));
  if (delta.num <= 0) return;
  finding->prize = delta;
  finding->how = HowKnown::kEstimate;
  finding->advice =
      "see what the host does between the launches, and do it earlier or in "
      "the graph";
}

/// " Most of it: A `x` 1.2 ms in 80 calls, B `y` 0.8 ms in 40." Empty where no
/// kernels are known.
std::string LargestKernels(const CompareResult& result,
                           const GroupComparison& group) {
  const auto of_group = [&](Category category) {
    for (const CategoryGroup& one : result.row_groups) {
      if (one.id != group.whole.id) continue;
      return std::count(one.members.begin(), one.members.end(), category) > 0;
    }
    return IdOf(category) == group.whole.id;
  };
  std::string text;
  for (const Side side : {Side::kA, Side::kB}) {
    const bool is_a = side == Side::kA;
    const SideTotals& totals =
        is_a ? result.causes.a_base : result.causes.b_base;
    const auto& serial = is_a ? result.serial_a : result.serial_b;
    const std::vector<FamilyAmounts> families = FamiliesOf(
        serial ? *serial : ViewOf(result, side).ledger, totals, nullptr);
    const auto largest = std::find_if(
        families.begin(), families.end(),
        [&](const FamilyAmounts& one) { return of_group(one.category); });
    if (largest == families.end()) continue;
    text += fmt::format(
        "{}{}'s largest kernel of it is {}, {} in {} call{}",
        text.empty() ? " " : "; ", NameOf(side), Quoted(largest->family),
        Duration(WorkTime(result, totals, largest->amounts)),
        CountText(totals.PerStep(largest->amounts.count)),
        totals.PerStep(largest->amounts.count) == Rational{1, 1} ? "" : "s");
  }
  return text.empty() ? text : text + ".";
}

/// " B hides 577 us of its beside other streams, where kernels take longer."
std::string HiddenText(const CompareResult& result, Side side,
                       const GroupComparison& group) {
  const bool is_a = side == Side::kA;
  const SideTotals& totals = is_a ? result.causes.a_base : result.causes.b_base;
  const int64_t hidden =
      (is_a ? group.whole.a : group.whole.b).hidden_cross_lane_ns;
  return fmt::format(
      " {} hides {} of its beside other streams, where kernels take longer.",
      NameOf(side), Duration(totals.PerStep(hidden)));
}

/// What the slower side spends less on.
void AddAhead(const CompareResult& result, const GapPart& part,
              const Contribution& of, Finding* finding) {
  const GroupComparison* group = of.group;
  // What a side runs nothing of it may have fused into something else.
  if (part.how != HowKnown::kMeasured || group == nullptr ||
      group->whole.a.count == 0 || group->whole.b.count == 0 ||
      IsFused(result, *group))
    return;
  if (AttributedAgrees(result, *group, part.delta)) {
    finding->advice = "keep it: what is changed for the rest must not cost it";
    return;
  }
  finding->text += HiddenText(result, Other(result.gap.slower), *group);
}

void AddContributor(const CompareResult& result,
                    const std::vector<RoleExcess>& excesses,
                    const GapPart& part, const Contribution& of,
                    FindingList* out) {
  const Gap& gap = result.gap;
  const Rational delta = Oriented(gap, part.delta);
  const bool slower_has_more = delta.num > 0;
  // Measured overlap has a finding of its own.
  const auto layout = [&](const std::optional<LedgerResult>& serial) {
    return serial && (part.id != "idle" || result.causes.untraced)
               ? " without its side streams"
               : "";
  };
  const std::string figures =
      fmt::format("{} on A{}, {} on B{}", of.a, layout(result.serial_a), of.b,
                  layout(result.serial_b));
  if (!slower_has_more) {
    Finding& finding =
        out->Add("slower-ahead." + part.id,
                 fmt::format("{}, the slower side, {} {} a step less{} ({}).",
                             NameOf(gap.slower), of.verb,
                             Duration(Negated(delta)), of.where, figures),
                 part.how);
    AddAhead(result, part, of, &finding);
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
  if (part.id == "idle") {
    SetIdlePrize(result, delta, &finding);
  } else if (part.id == "rank_wait" && part.how == HowKnown::kMeasured) {
    if (StragglerGain(result)) return;  // has a finding of its own
    finding.prize = delta;
    finding.advice = "see why the rank that comes last is late";
  } else if (part.how == HowKnown::kMeasured && of.group != nullptr &&
             !IsFused(result, *of.group) &&
             !StragglerHolds(result, *of.group)) {
    if (!AttributedAgrees(result, *of.group, part.delta)) {
      finding.text += HiddenText(result, gap.slower, *of.group);
      return;
    }
    finding.prize = delta;
    AddKernels(result, excesses, *of.group, &finding);
    const std::string kernels = LargestKernels(result, *of.group);
    if (finding.details.empty()) finding.text += kernels;
    finding.advice = kernels.empty()
                         ? "compare it kernel by kernel, which a table cannot"
                     : finding.details.empty()
                         ? "see which of its kernels takes longer, and why"
                         : "see why these kernels take longer";
  }
}

}  // namespace

void FindSpeed(const CompareResult& result, FindingList* out) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither) {
    out->Add("same-speed",
             fmt::format("A and B take the same time: {} and {}.",
                         TimeOnBasis(result, result.causes.a_total),
                         Duration(result.causes.b_total)));
    return;
  }
  const bool a_slower = gap.slower == Side::kA;
  const Causes& causes = result.causes;
  const Rational slow = a_slower ? causes.a_total : causes.b_total;
  const Rational fast = a_slower ? causes.b_total : causes.a_total;
  // Below 1.1 a factor hides its only digit that counts.
  const std::string factor = AtLeastPercent(slow - fast, fast, 10)
                                 ? Ratio(slow, fast) + " \u00d7"
                                 : Share(slow - fast, fast, 1);
  out->Add("faster",
           fmt::format("{} is {} slower than {}: {} against {}, {} more.",
                       NameOf(gap.slower), factor, NameOf(Other(gap.slower)),
                       TimeOnBasis(result, slow), Duration(fast),
                       Duration(slow - fast)) +
               (!causes.untraced && WithinSpread(result)
                    ? " Single steps differ by more."
                    : "") +
               Breakdown(result) + Waiting(result));
}

/// The parts that make the gap, then those that make it smaller.
void FindContributors(const CompareResult& result,
                      const std::vector<RoleExcess>& excesses,
                      FindingList* out) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither) return;
  std::vector<GapPart> parts = LargestParts(result);
  const Rational whole = Magnitude(result.causes.total);
  for (const bool more : {true, false}) {
    size_t named = 0;
    for (const GapPart& part : parts) {
      const Rational delta = Oriented(gap, part.delta);
      const auto of = ContributionOf(result, part);
      if (!of || named == kMaxContributors) continue;
      if (!AtLeastPercent(more ? delta : Negated(delta), whole,
                          kWorthNamingPercent))
        continue;
      AddContributor(result, excesses, part, *of, out);
      ++named;
    }
    std::reverse(parts.begin(), parts.end());
  }
}

}  // namespace inferdiff
