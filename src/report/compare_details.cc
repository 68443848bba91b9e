// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/number.h"
#include "base/text.h"
#include "report/compare_tables.h"

namespace inferdiff {
namespace {

constexpr int64_t kBarCells = 20;
constexpr int kDecimals = 3;

std::string Bar(Rational value, Rational largest) {
  if (value.num == 0 || largest.num == 0) return {};
  // Rounded up: what is there is seen.
  const Rational magnitude{value.num < 0 ? -value.num : value.num, value.den};
  int64_t cells = 0;
  while (cells < kBarCells &&
         Rational{cells * (largest.num / kBarCells), largest.den} < magnitude)
    ++cells;
  std::string bar;
  for (int64_t i = 0; i < cells; ++i)
    bar += value.num < 0 ? "\u2592" : "\u2588";
  return bar;
}

Rational Oriented(const Gap& gap, Rational delta) {
  if (gap.slower == Side::kB || gap.slower == Side::kNeither) return delta;
  return {-delta.num, delta.den};
}

Rational Magnitude(Rational r) { return {r.num < 0 ? -r.num : r.num, r.den}; }

struct WaterfallRow {
  std::string title;
  Rational delta;
  bool bound = false;
};

/// The slower side's surplus first, what it is ahead in last; parts under 2 %
/// of the largest in one line.
std::vector<WaterfallRow> WaterfallRows(const CompareResult& result) {
  std::vector<WaterfallRow> rows;
  Rational largest{0, 1};
  for (const GapPart& part : result.gap_parts)
    largest = std::max(largest, Magnitude(part.delta));
  Rational rest{0, 1};
  size_t folded = 0;
  for (const GapPart& part : result.gap_parts) {
    if (part.delta.num == 0) continue;
    const Rational delta = Oriented(result.gap, part.delta);
    if (Magnitude(delta) < Rational{largest.num / 50, largest.den}) {
      rest = rest + delta;
      ++folded;
      continue;
    }
    rows.push_back({part.title, delta, part.how == HowKnown::kBound});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return y.delta < x.delta;
  });
  if (folded > 0)
    rows.push_back(
        {fmt::format("{} smaller part{}", folded, folded == 1 ? "" : "s"),
         rest});
  return rows;
}

using Printer = std::function<std::string(Rational)>;

/// One side's cells; the spread where a side has more than one step.
void AddStat(const Stat& stat, bool spread, const Printer& print,
             std::vector<Cell>* cells) {
  cells->emplace_back(stat.n > 0 ? print(stat.mean()) : std::string(kDash));
  if (!spread) return;
  for (const int64_t value : {stat.median, stat.p10, stat.p90})
    cells->emplace_back(stat.n > 1 ? print({value, 1}) : std::string(kDash));
}

std::string CountText(Rational count) {
  return Decimal(count, count.num % count.den == 0 ? 0 : 1);
}

}  // namespace

Table WaterfallTable(const CompareResult& result) {
  const TableUnit unit = UnitOf(result);
  const std::vector<WaterfallRow> rows = WaterfallRows(result);
  std::vector<Rational> deltas;
  Rational largest{0, 1};
  for (const WaterfallRow& row : rows) {
    deltas.push_back(row.delta);
    largest = std::max(largest, Magnitude(row.delta));
  }
  const PrintedColumn times =
      AddingColumn(deltas, kDecimals, unit.last_digit_ns * 1000, Sign::kAlways);
  const PrintedColumn shares = PercentColumn(deltas, 0);
  const bool of_gap = result.gap.slower != Side::kNeither;
  Table table;
  table.columns = {{"part of the gap", Align::kLeft, true},
                   {std::string(unit.name), Align::kPoint},
                   {of_gap ? "of gap" : "", Align::kRight},
                   {"", Align::kLeft},
                   {"", Align::kLeft}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool ahead = rows[i].delta.num < 0;
    const Tint tint = ahead ? Tint::kAhead : Tint::kBehind;
    table.Add({rows[i].title,
               {times.parts[i], of_gap ? tint : Tint::kPlain},
               of_gap ? shares.parts[i] + " %" : std::string(),
               rows[i].bound ? kAtMost : "",
               Bar(rows[i].delta, largest)});
  }
  table.AddTotal(
      {"gap", times.total, of_gap ? shares.total + " %" : std::string()});
  return table;
}

Table StepTable(const CompareResult& result) {
  const PerStep& a = result.a.per_step;
  const PerStep& b = result.b.per_step;
  const TableUnit unit = UnitOf(result);
  const bool spread = result.a.used_steps > 1 || result.b.used_steps > 1;
  Table table;
  table.columns = {{fmt::format("a step, {}", unit.name), Align::kLeft}};
  for (const std::string_view side : {"A", "B"}) {
    table.columns.push_back({fmt::format("{} mean", side)});
    if (!spread) continue;
    table.columns.push_back({"median"});
    for (const char* quantile : {"p10", "p90"})
      table.columns.push_back(SpareColumn(quantile));
  }
  const bool fair = result.comparable.verdict != Comparability::kNo;
  if (fair) table.columns.push_back({"A/B"});
  const auto add = [&](std::string title, Stat PerStep::*member,
                       const Printer& print) {
    const Stat& stat_a = a.*member;
    const Stat& stat_b = b.*member;
    if (stat_a.total == 0 && stat_b.total == 0) return;
    std::vector<Cell> cells = {std::move(title)};
    AddStat(stat_a, spread, print, &cells);
    AddStat(stat_b, spread, print, &cells);
    const bool both = stat_a.total != 0 && stat_b.total != 0;
    if (fair)
      cells.emplace_back(both ? Ratio(stat_a.mean(), stat_b.mean())
                              : std::string(kDash));
    table.Add(std::move(cells));
  };
  const Printer time = [&](Rational ns) { return unit.Print(ns); };
  add("wall", &PerStep::wall, time);
  add("replay span", &PerStep::replay_span, time);
  add("span", &PerStep::span, time);
  add("sum", &PerStep::sum, time);
  add("busy", &PerStep::busy, time);
  add("idle", &PerStep::idle, time);
  add("\u00b7 inside replays", &PerStep::idle_inside, time);
  add("\u00b7 host late", &PerStep::idle_host_late, time);
  add("\u00b7 queued", &PerStep::idle_queued, time);
  add("\u00b7 cause unknown", &PerStep::idle_unknown, time);
  add("foreign", &PerStep::foreign, time);
  add("kernels", &PerStep::kernels, CountText);
  return table;
}

Table FamilyTable(const CompareResult& result, Side side,
                  const std::vector<FamilyAmounts>& families, size_t rows) {
  const SideTotals& totals =
      side == Side::kA ? result.a_totals : result.b_totals;
  const TableUnit unit = UnitOf(result);
  const Rational whole = totals.PerStep(totals.headline_ns);
  Table table;
  table.columns = {{"kernel", Align::kLeft, true, true},
                   {std::string(unit.name)},
                   {"%"},
                   {"calls"},
                   {"\u00b5s a call"},
                   {"category", Align::kLeft}};
  SideAmounts rest;
  size_t folded = 0;
  for (const FamilyAmounts& family : families) {
    const SideAmounts& amounts = family.amounts;
    if (table.rows.size() == rows) {
      rest += amounts;
      ++folded;
      continue;
    }
    const Rational time = totals.PerStep(amounts.attributed_ns);
    table.Add({family.family, unit.Print(time), Percent(time, whole),
               Decimal(totals.PerStep(amounts.count), 0),
               Decimal({amounts.sum_ns, amounts.count}, 2, 1000),
               TitleOf(family.category)});
  }
  if (folded > 0) {
    const Rational time = totals.PerStep(rest.attributed_ns);
    table.Add({fmt::format("{} more", folded), unit.Print(time),
               Percent(time, whole), Decimal(totals.PerStep(rest.count), 0)});
  }
  return table;
}

Table SetupTableOf(const CompareResult& result) {
  Table table;
  table.columns = {{"set-up", Align::kLeft},
                   {"A", Align::kLeft, true},
                   {"B", Align::kLeft, true},
                   {"", Align::kLeft}};
  for (const SetupRow& row : result.setup) {
    if (row.a.empty() && row.b.empty()) continue;
    const bool matters = row.role != RowRole::kShown;
    std::string verdict;
    if (matters)
      verdict = !row.same ? "unknown" : *row.same ? "same" : "differs";
    table.Add({row.field, row.a.empty() ? std::string(kDash) : row.a,
               row.b.empty() ? std::string(kDash) : row.b, verdict});
  }
  return table;
}

}  // namespace inferdiff
