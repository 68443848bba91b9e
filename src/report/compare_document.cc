// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "report/alignment_report.h"
#include "report/compare_report.h"
#include "report/compare_tables.h"
#include "report/cycles_report.h"
#include "report/ledger_facts.h"
#include "report/ledger_text.h"
#include "report/machine_report.h"
#include "report/printed_side.h"
#include "report/start_items.h"

namespace inferdiff {
namespace {

constexpr size_t kTopKernels = 8;
constexpr size_t kDiveKernels = 15;

const SideTotals& TotalsOf(const CompareResult& result, Side side) {
  return side == Side::kA ? result.a_totals : result.b_totals;
}

const LedgerResult& LedgerOf(const CompareResult& result, Side side) {
  return side == Side::kA ? result.a : result.b;
}

std::string Joined(const std::vector<std::string>& words,
                   std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string Verdict(const ComparableResult& comparable) {
  const std::string reasons = Joined(comparable.reasons, "; ");
  if (comparable.verdict == Comparability::kNo)
    return fmt::format("Not comparable: {}.", reasons);
  if (comparable.verdict == Comparability::kYes)
    return "Comparable: every field that should match is known and equal.";
  if (comparable.reasons.empty())
    return "Comparable, as far as both sides say.";
  return fmt::format("Comparable with {} reservation{}: {}.",
                     comparable.reasons.size(),
                     comparable.reasons.size() == 1 ? "" : "s", reasons);
}

Section Sides(const CompareResult& result) {
  Section section;
  for (const Side side : {Side::kA, Side::kB}) {
    const LedgerResult& ledger = LedgerOf(result, side);
    section.before.push_back(fmt::format("{}  {}  {}", NameOf(side),
                                         Quoted(ledger.source.label),
                                         SideFacts(ledger)));
  }
  section.after.push_back(Verdict(result.comparable));
  if (!result.comparable.unknown.empty()) {
    section.after.push_back(
        fmt::format("Unknown on a side, so not counted as equal: {}.",
                    Joined(result.comparable.unknown, ", ")));
  }
  return section;
}

/// "Without the profiler a step takes 4.40 ms on A, 3.83 ms on B: A/B 1.15."
std::string UntracedText(const UntracedTimes& untraced) {
  const auto& [a, b] = untraced;
  if (!a && !b) return "";
  const auto time = [](std::optional<int64_t> ns) {
    return ns ? Duration({*ns, 1}) : "an unknown time";
  };
  std::string text = fmt::format(
      "Without the profiler a step takes {} on A, {} on B", time(a), time(b));
  if (a && b) text += fmt::format(": A/B {}", Ratio({*a, 1}, {*b, 1}));
  return text + ".";
}

/// What the ledgers hold of steps that were timed without the profiler.
std::string LedgerTimes(const CompareResult& result) {
  const Causes& causes = result.causes;
  const auto times = [](const Gap& gap) {
    return fmt::format("{} of A's step and {} of B's", Duration(gap.a_total),
                       Duration(gap.b_total));
  };
  std::string text = fmt::format("The ledgers hold {}", times(result.gap));
  if (result.serial_a || result.serial_b)
    text += fmt::format("; without side streams {}", times(causes.residual));
  for (const GapPart& part : causes.parts) {
    if (part.id != "untraced") continue;
    text += fmt::format(
        ". What they make of the gap is off by {} ({} of it)",
        Duration(Magnitude(part.delta)),
        Percent(Magnitude(part.delta), Magnitude(causes.total)) + " %");
  }
  return text + ".";
}

/// The headline, and the two largest reasons in one sentence.
Section Headline(const CompareResult& result) {
  Section section;
  for (const Finding& finding : result.findings) {
    if (finding.id == "faster" || finding.id == "same-speed")
      section.before.push_back(finding.text);
  }
  std::string text = result.causes.untraced ? LedgerTimes(result)
                                            : UntracedText(result.untraced);
  if (!text.empty()) section.before.push_back(std::move(text));
  return section;
}

Section Waterfall(const CompareResult& result) {
  Section section;
  const Gap& gap = result.gap;
  section.title =
      gap.slower == Side::kNeither
          ? "What the two differ in, B minus A"
          : fmt::format("Where the {} are, {} minus {}",
                        Duration(Magnitude(result.causes.total)),
                        NameOf(gap.slower), NameOf(Other(gap.slower)));
  section.table = WaterfallTable(result);
  const bool shows_concurrency = std::any_of(
      section.table->rows.begin(), section.table->rows.end(),
      [](const Row& row) { return row.cells[0].text == "concurrency"; });
  if (shows_concurrency) {
    section.after.push_back(
        "Work is durations added up, without the waits of early starts; what "
        "other streams hide of it is the concurrency line. \u2264 marks a "
        "bound.");
  }
  if (result.causes.untraced) {
    if (std::any_of(result.causes.parts.begin(), result.causes.parts.end(),
                    [](const GapPart& part) {
                      return part.id == "untraced" && part.delta.num != 0;
                    }))
      section.after.push_back(
          "Not in the ledgers: what the times without the profiler make of "
          "the gap, less what the ledgers do. A profiler adds to one side "
          "more than to the other, most to idle time and to small kernels.");
    section.after.push_back(
        "Scaled: each side's time without the profiler, shared out as its "
        "ledger has it (estimate).");
  }
  if (std::any_of(result.gap_parts.begin(), result.gap_parts.end(),
                  [](const GapPart& part) {
                    return part.delta.num != 0 &&
                           part.how == HowKnown::kEstimate;
                  })) {
    section.after.push_back(
        "\u2248: rank wait is measured on neither side; one rank alone shows a "
        "lower bound at most, and what is missing there is in communication.");
  }
  return section;
}

/// "attributed 3.412 + other 0.021 + idle 0.173 = replay span 3.606 ms", in
/// the digits of the table above it.
std::string CheckLine(const CompareResult& result, Side side) {
  const SideTotals& totals = TotalsOf(result, side);
  const TableUnit unit = UnitOf(result);
  const StepParts step =
      PrintSide(result, side, totals.steps, {0, unit.last_digit_ns}).step;
  std::string parts = "attributed " + unit.Print(step.busy, step.busy == 0);
  if (totals.foreign_ns != 0) {
    parts += fmt::format(
        " + {} {}",
        result.gap.basis == Basis::kReplaySpan ? "other" : "foreign",
        unit.Print(step.foreign, false));
  }
  if (totals.idle_inside_ns + totals.idle_outside_ns != 0)
    parts += " + idle " + unit.Print(step.idle, false);
  const bool table = LedgerOf(result, side).published.has_value();
  return fmt::format(
      "{}: {} = {} {} {} a step, {}.", NameOf(side), parts,
      TitleOf(result.gap.basis), unit.Print(step.whole, step.whole == 0),
      unit.name,
      table ? "as the table has it"
            : "checked in ns over " + Plural(totals.steps, "step"));
}

Section Categories(const CompareResult& result) {
  Section section;
  section.title = fmt::format(
      "Time by category, a step ({}; sum = durations added up)",
      result.gap.basis == Basis::kWall
          ? "mean of the used steps"
          : fmt::format("within the {}", TitleOf(result.gap.basis)));
  section.table = CategoryTable(result);
  section.after.push_back("Last digits are rounded so that columns add up.");
  for (const Side side : {Side::kA, Side::kB}) {
    const LedgerResult& ledger = side == Side::kA ? result.a : result.b;
    if (ledger.used_steps > 0) section.after.push_back(CheckLine(result, side));
  }
  for (const Side side : {Side::kA, Side::kB}) {
    const SideTotals& totals = TotalsOf(result, side);
    if (totals.all.sum_ns <= totals.headline_ns) continue;
    section.after.push_back(fmt::format(
        "{}'s durations add up to more than its {}: operations overlap, and "
        "{} a step of them are hidden behind others.",
        NameOf(side), TitleOf(result.gap.basis),
        Duration(totals.PerStep(totals.all.hidden_same_lane_ns +
                                totals.all.hidden_cross_lane_ns))));
  }
  return section;
}

Section Families(const CompareResult& result, Side side,
                 const std::vector<FamilyAmounts>& families, size_t rows,
                 std::string title) {
  Section section;
  section.title = std::move(title);
  section.table = FamilyTable(result, side, families, rows);
  section.folded = true;
  return section;
}

Section Starts(const CompareResult& result) {
  Section section;
  section.title = "Where to start";
  int64_t number = 0;
  for (const StartItem& item : StartItems(result)) {
    section.before.push_back(
        item.gain.empty() ? fmt::format("{}. To keep: {}", ++number, item.text)
                          : fmt::format("{}. {}: {} Try: {}.", ++number,
                                        item.gain, item.text, item.advice));
    for (const StartDetail& detail : item.details)
      section.before.push_back(
          fmt::format("{}{}: {}", kDetailMark, detail.gain, detail.text));
  }
  return section;
}

/// B minus A group by group, where more is known than the category table says.
Section CausesSection(const CompareResult& result) {
  Section section;
  const Causes& causes = result.causes;
  const FloorTimes& given = causes.floors;
  const bool floors = given.a || given.b || !given.source.empty();
  if (!floors && !result.serial_a && !result.serial_b) return section;
  const auto layout = [](const std::optional<LedgerResult>& serial) {
    return serial ? "without side streams" : "as it is";
  };
  section.title = fmt::format("Causes, B minus A: A {}, B {}",
                              layout(result.serial_a), layout(result.serial_b));
  section.table = CausesTable(result);
  if (causes.not_separable.empty()) {
    section.after.push_back(fmt::format(
        "count = (ops B \u2212 ops A) \u00d7 {}, price = ops B \u00d7 ({} "
        "\u2212 {}), rest = what is left: exact sums, and an estimate of what "
        "fewer or cheaper operations would bring.",
        Duration(*causes.floors.a), Duration(*causes.floors.b),
        Duration(*causes.floors.a)));
  } else {
    section.after.push_back(fmt::format(
        "By number and price of operations: not separable, because {}.",
        causes.not_separable));
  }
  if (!given.source.empty())
    section.after.push_back(fmt::format("Floors: {}.", given.source));
  return section;
}

Section Sentences(const CompareResult& result, FindingKind kind,
                  std::string title) {
  Section section;
  section.title = std::move(title);
  for (const Finding& finding : result.findings) {
    if (finding.kind != kind) continue;
    if (finding.id == "faster" || finding.id == "same-speed") continue;
    if (!finding.advice.empty()) continue;
    std::string text = finding.text;
    if (finding.how != HowKnown::kMeasured)
      text += fmt::format(" ({})", IdOf(finding.how));
    section.before.push_back(std::move(text));
  }
  return section;
}

}  // namespace

Document CompareDocument(const CompareResult& result) {
  const bool fair = result.comparable.verdict != Comparability::kNo;
  Document document;
  document.title = fmt::format("{} against {}", Quoted(result.a.source.label),
                               Quoted(result.b.source.label));
  const auto add = [&](std::string_view id, Section section) {
    section.id = id;
    const bool empty = section.before.empty() && section.after.empty() &&
                       (!section.table || section.table->rows.empty());
    if (!empty) document.sections.push_back(std::move(section));
  };
  add("sides", Sides(result));
  if (fair) {
    add("verdict", Headline(result));
    add("gap", Waterfall(result));
    add("start", Starts(result));
    add("causes", CausesSection(result));
    add("findings", Sentences(result, FindingKind::kResult, "Key findings"));
  }
  if (auto section = CycleSection(result)) add("cycles", *std::move(section));
  for (Section& section : MachineSections(result))
    add("machine", std::move(section));
  add("categories", Categories(result));
  if (result.dive) {
    const CategoryDive& dive = *result.dive;
    Section section;
    section.title = fmt::format("Deep dive: {}", dive.title);
    section.before = dive.sentences;
    add("dive", std::move(section));
    add("dive-a", Families(result, Side::kA, dive.a, kDiveKernels,
                           fmt::format("{} on A", dive.title)));
    add("dive-b", Families(result, Side::kB, dive.b, kDiveKernels,
                           fmt::format("{} on B", dive.title)));
  }
  if (fair)
    for (Section& section : AlignmentSections(result))
      add("roles", std::move(section));
  if (result.role_dive) add("role", RoleSection(*result.role_dive));
  Section steps;
  steps.title = "Steps, as accounted";
  steps.table = StepTable(result);
  steps.folded = true;
  add("steps", std::move(steps));
  add("kernels-a", Families(result, Side::kA, result.a_families, kTopKernels,
                            "Top kernels of A"));
  add("kernels-b", Families(result, Side::kB, result.b_families, kTopKernels,
                            "Top kernels of B"));
  Section setup;
  setup.title = "Set-up";
  setup.table = SetupTableOf(result);
  setup.folded = true;
  add("setup", std::move(setup));
  add("doubts", Sentences(result, FindingKind::kDoubt, "Read with care"));
  add("provenance", ProvenanceSection({&result.a.source, &result.b.source}));
  return document;
}

}  // namespace inferdiff
