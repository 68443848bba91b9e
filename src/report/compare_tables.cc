// SPDX-License-Identifier: Apache-2.0
#include "report/compare_tables.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "report/printed_side.h"

namespace inferdiff {
namespace {

constexpr int kDecimals = 3;

/// One side of a line: exact totals over the side's steps, and the time and
/// sum in last digits.
struct Figures {
  int64_t time_ns = 0;  // attributed, foreign or idle
  int64_t ops = 0;
  int64_t time = 0, sum = 0;
  int64_t share = 0;           // of the step, in tenths of a percent
  std::string_view sign = {};  // of a bound
};

struct CategoryLine {
  std::string title;
  Figures a, b;
  bool pseudo = false;  // no operations of its own
};

/// Everything printed of one side, as times and as shares.
struct SideDigits {
  SideDigits(const CompareResult& result, Side side)
      : totals(side == Side::kA ? result.a_totals : result.b_totals),
        times(PrintSide(result, side, totals.steps,
                        {0, UnitOf(result).last_digit_ns})),
        has_shares(totals.headline_ns > 0),
        shares(PrintSide(result, side, std::max<int64_t>(totals.headline_ns, 1),
                         {3, 1})) {}

  Figures Group(size_t g, const SideAmounts& amounts) const {
    return {amounts.attributed_ns, amounts.count, times.group_times[g],
            times.group_sums[g], shares.group_times[g]};
  }
  Figures Part(const CategoryComparison& row,
               const SideAmounts& amounts) const {
    const auto category = static_cast<size_t>(*CategoryFromId(row.id));
    return {amounts.attributed_ns, amounts.count, times.times[category],
            times.sums[category], shares.times[category]};
  }
  Figures Pseudo(int64_t SideTotals::*total, int64_t StepParts::*part) const {
    return {totals.*total, 0, times.step.*part, 0, shares.step.*part};
  }
  Figures Wait() const {
    return {totals.rank_wait.attributed_ns,
            0,
            times.wait_time,
            times.wait_sum,
            shares.wait_time,
            IsMeasured(totals.wait_basis) ? "" : kAtLeast};
  }
  Figures Whole() const {
    return {totals.headline_ns, totals.all.count, times.step.whole,
            times.step.sum, shares.step.whole};
  }

  const SideTotals& totals;
  PrintedSide times;
  bool has_shares;
  PrintedSide shares;
};

/// What makes the idle time outside replays, where both sides tell.
void AddIdleLines(const SideDigits& a, const SideDigits& b,
                  std::vector<CategoryLine>* lines) {
  if (!a.totals.idle_causes || !b.totals.idle_causes) return;
  const auto add = [&](std::string_view title, int64_t StepParts::*part,
                       int64_t of_a, int64_t of_b) {
    if (of_a == 0 && of_b == 0) return;
    const auto figures = [&](const SideDigits& side, int64_t total) {
      return Figures{total, 0, side.times.step.*part, 0,
                     side.shares.step.*part};
    };
    lines->push_back({fmt::format("\u00b7 {}", title), figures(a, of_a),
                      figures(b, of_b), true});
  };
  const IdleCauses& x = *a.totals.idle_causes;
  const IdleCauses& y = *b.totals.idle_causes;
  add("between replays", &StepParts::between, x.between.total(),
      y.between.total());
  add("host-launched tail", &StepParts::tail, x.tail.total(), y.tail.total());
  add("host late", &StepParts::host_late, x.rest.host_late, y.rest.host_late);
  add("queued", &StepParts::queued, x.rest.queued, y.rest.queued);
  add("cause unknown", &StepParts::unknown, x.rest.unknown, y.rest.unknown);
}

std::vector<CategoryLine> CategoryLines(const CompareResult& result,
                                        const SideDigits& a,
                                        const SideDigits& b) {
  std::vector<CategoryLine> lines;
  for (size_t g = 0; g < result.groups.size(); ++g) {
    const GroupComparison& group = result.groups[g];
    lines.push_back({group.whole.title, a.Group(g, group.whole.a),
                     b.Group(g, group.whole.b)});
    for (const CategoryComparison& part : group.parts) {
      lines.push_back(
          {"\u00b7 " + part.title, a.Part(part, part.a), b.Part(part, part.b)});
    }
  }
  if (result.a_totals.rank_wait.sum_ns != 0 ||
      result.b_totals.rank_wait.sum_ns != 0)
    lines.push_back({"rank wait", a.Wait(), b.Wait(), true});
  const auto pseudo = [&](std::string title, int64_t SideTotals::*total,
                          int64_t StepParts::*part) {
    if (result.a_totals.*total == 0 && result.b_totals.*total == 0) return;
    lines.push_back(
        {std::move(title), a.Pseudo(total, part), b.Pseudo(total, part), true});
  };
  const bool replay = result.gap.basis == Basis::kReplaySpan;
  pseudo(replay ? "other during the replay" : "foreign",
         &SideTotals::foreign_ns, &StepParts::foreign);
  pseudo("idle inside replays", &SideTotals::idle_inside_ns,
         &StepParts::inside);
  pseudo(IdleTitle(result.gap), &SideTotals::idle_outside_ns,
         &StepParts::outside);
  AddIdleLines(a, b, &lines);
  return lines;
}

/// One side's cells: time, share, sum, operations.
void AddFigures(const Figures& figures, const SideDigits& side, TableUnit unit,
                bool pseudo, Tint tint, std::vector<Cell>* cells) {
  const bool zero = figures.time_ns == 0;
  std::string time = unit.Print(figures.time, zero);
  if (!figures.sign.empty()) time = fmt::format("{} {}", figures.sign, time);
  cells->emplace_back(std::move(time), tint);
  cells->emplace_back(side.has_shares ? PrintDigits(figures.share, 1, zero)
                                      : std::string(kDash));
  if (pseudo) {
    cells->emplace_back(figures.sum > 0 ? unit.Print(figures.sum, false) : "");
    cells->emplace_back();
    return;
  }
  const Rational ops = side.totals.PerStep(figures.ops);
  cells->emplace_back(side.totals.sums_known
                          ? unit.Print(figures.sum, zero && figures.sum == 0)
                          : std::string(kDash));
  cells->emplace_back(side.totals.counts_known
                          ? Decimal(ops, ops.num % ops.den == 0 ? 0 : 1)
                          : std::string(kDash));
}

/// Who is ahead, from 2 % on. A side that runs none of a category may have it
/// fused into another one: nobody is ahead then.
Side AheadIn(const CategoryLine& line, const CompareResult& result) {
  if (line.pseudo || line.a.time_ns == 0 || line.b.time_ns == 0)
    return Side::kNeither;
  const Rational a = result.a_totals.PerStep(line.a.time_ns);
  const Rational b = result.b_totals.PerStep(line.b.time_ns);
  const Rational low = a < b ? a : b;
  const Rational apart = a < b ? b - a : a - b;
  if (apart.num == 0 || apart < Rational{low.num / 50, low.den})
    return Side::kNeither;
  return a < b ? Side::kA : Side::kB;
}

Tint TintOf(Side side, Side ahead) {
  if (ahead == Side::kNeither) return Tint::kPlain;
  return side == ahead ? Tint::kAhead : Tint::kBehind;
}

std::string AheadText(Side ahead) {
  return ahead == Side::kNeither ? "=" : std::string(NameOf(ahead));
}

/// "A/B" and "ahead" of a line.
void AddVerdict(const CompareResult& result, const CategoryLine& line,
                Side ahead, std::vector<Cell>* cells) {
  if (line.pseudo) return;
  const bool both = line.a.time_ns != 0 && line.b.time_ns != 0;
  cells->emplace_back(both ? Ratio(result.a_totals.PerStep(line.a.time_ns),
                                   result.b_totals.PerStep(line.b.time_ns))
                           : std::string(kDash));
  cells->emplace_back(both ? AheadText(ahead) : "");
}

}  // namespace

std::string TableUnit::Print(int64_t last_digits, bool zero) const {
  return PrintDigits(last_digits, kDecimals, zero);
}

std::string TableUnit::Print(Rational ns) const {
  return Print(RoundedTo(ns, {0, last_digit_ns}), ns.num == 0);
}

TableUnit UnitOf(const CompareResult& result) {
  const Rational longer = std::max(result.gap.a_total, result.gap.b_total);
  if (longer < Rational{1'000'000, 1}) return {"\u00b5s", 1};
  if (longer < Rational{10'000'000'000, 1}) return {"ms", 1'000};
  return {"s", 1'000'000};
}

Table CategoryTable(const CompareResult& result) {
  const bool fair = result.comparable.verdict != Comparability::kNo;
  const TableUnit unit = UnitOf(result);
  const SideDigits a(result, Side::kA), b(result, Side::kB);
  Table table;
  table.columns = {{"category", Align::kLeft, true},
                   {fmt::format("A {}", unit.name)},
                   {"%"},
                   SpareColumn("sum"),
                   {"ops"},
                   {fmt::format("B {}", unit.name)},
                   {"%"},
                   SpareColumn("sum"),
                   {"ops"}};
  if (fair) {
    table.columns.push_back({"A/B"});
    table.columns.push_back({"ahead", Align::kLeft});
  }
  for (const CategoryLine& line : CategoryLines(result, a, b)) {
    const Side ahead = fair ? AheadIn(line, result) : Side::kNeither;
    std::vector<Cell> cells = {line.title};
    AddFigures(line.a, a, unit, line.pseudo, TintOf(Side::kA, ahead), &cells);
    AddFigures(line.b, b, unit, line.pseudo, TintOf(Side::kB, ahead), &cells);
    if (fair) AddVerdict(result, line, ahead, &cells);
    table.Add(std::move(cells));
  }
  std::vector<Cell> total = {std::string(TitleOf(result.gap.basis))};
  for (const SideDigits* side : {&a, &b})
    AddFigures(side->Whole(), *side, unit, false, Tint::kPlain, &total);
  if (fair) {
    total.emplace_back(Ratio(result.gap.a_total, result.gap.b_total));
    total.emplace_back(AheadText(Other(result.gap.slower)));
  }
  table.AddTotal(std::move(total));
  return table;
}

}  // namespace inferdiff
