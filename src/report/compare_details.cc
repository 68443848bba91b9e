// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/number.h"
#include "base/text.h"
#include "report/compare_tables.h"
#include "report/printed_side.h"

namespace inferdiff {
namespace {

constexpr int64_t kBarCells = 20;
constexpr int kDecimals = 3;

std::string Bar(Rational value, Rational largest) {
  if (value.num == 0 || largest.num == 0) return {};
  // Rounded up: what is there is seen.
  const Rational magnitude = Magnitude(value);
  int64_t cells = 0;
  while (cells < kBarCells &&
         Rational{cells * (largest.num / kBarCells), largest.den} < magnitude)
    ++cells;
  std::string bar;
  for (int64_t i = 0; i < cells; ++i)
    bar += value.num < 0 ? "\u2592" : "\u2588";
  return bar;
}

std::string_view SignOf(GapPart::Sense sense) {
  const std::string_view signs[] = {"", kAtMost, kAtLeast, kAbout};
  return signs[static_cast<size_t>(sense)];
}

using Printer = std::function<std::string(Rational)>;

/// One side's cells; the spread where a side has more than one step.
void AddStat(const Stat& stat, bool spread, std::string mean,
             const Printer& print, std::vector<Cell>* cells) {
  cells->emplace_back(std::move(mean));
  if (!spread) return;
  for (const int64_t value : {stat.median, stat.p10, stat.p90})
    cells->emplace_back(stat.n > 1 ? print({value, 1}) : std::string(kDash));
}

/// A quantity of the table of steps; `part` where it is one of the parts that
/// add up.
struct StepQuantity {
  std::string_view title;
  Stat PerStep::*stat;
  int64_t StepParts::*part = nullptr;
};

constexpr StepQuantity kStepQuantities[] = {
    {"wall", &PerStep::wall, &StepParts::whole},
    {"replay span", &PerStep::replay_span},
    {"span", &PerStep::span},
    {"sum", &PerStep::sum, &StepParts::sum},
    {"\u00b7 rank wait", &PerStep::rank_wait},
    {"busy", &PerStep::busy, &StepParts::busy},
    {"idle", &PerStep::idle, &StepParts::idle},
    {"\u00b7 inside replays", &PerStep::idle_inside, &StepParts::inside},
    {"\u00b7 between replays", &PerStep::idle_between, &StepParts::between},
    {"\u00b7 host-launched tail", &PerStep::idle_tail, &StepParts::tail},
    {"\u00b7 host late", &PerStep::rest_host_late, &StepParts::host_late},
    {"\u00b7 queued", &PerStep::rest_queued, &StepParts::queued},
    {"\u00b7 cause unknown", &PerStep::rest_unknown, &StepParts::unknown},
    {"foreign", &PerStep::foreign, &StepParts::foreign},
};

/// The means of one side.
class StepMeans {
 public:
  StepMeans(const LedgerResult& ledger, TableUnit unit)
      : per_step_(ledger.per_step),
        unit_(unit),
        adds_up_(ledger.used_steps > 0 &&
                 ledger.per_step.wall.n == ledger.used_steps) {
    if (adds_up_)
      digits_ = RoundParts(TotalsOf(per_step_), ledger.used_steps,
                           {0, unit.last_digit_ns});
  }

  std::string Text(const StepQuantity& quantity) const {
    const Stat& stat = per_step_.*quantity.stat;
    if (stat.n == 0) return std::string(kDash);
    if (!adds_up_ || quantity.part == nullptr) return unit_.Print(stat.mean());
    return unit_.Print(digits_.*quantity.part, stat.total == 0);
  }

 private:
  const PerStep& per_step_;
  TableUnit unit_;
  bool adds_up_;
  StepParts digits_;
};

}  // namespace

std::vector<WaterfallRow> WaterfallRows(const CompareResult& result) {
  std::vector<WaterfallRow> rows;
  Rational largest{0, 1};
  for (const GapPart& part : result.causes.parts)
    largest = std::max(largest, Magnitude(part.delta));
  Rational rest{0, 1};
  std::optional<Rational> rest_scaled;
  int64_t rest_percent = 0;
  size_t folded = 0;
  for (const GapPart& part : result.causes.parts) {
    if (part.delta.num == 0) continue;
    const Rational delta = Oriented(result.gap, part.delta);
    std::optional<Rational> scaled = part.scaled;
    if (scaled) scaled = Oriented(result.gap, *scaled);
    if (Magnitude(delta) < Rational{largest.num / 50, largest.den}) {
      rest = rest + delta;
      rest_percent += part.percent;
      if (scaled) rest_scaled = rest_scaled.value_or(Rational{0, 1}) + *scaled;
      ++folded;
      continue;
    }
    rows.push_back(
        {part.id, part.title, delta, part.percent, part.sense, scaled});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return y.delta < x.delta;
  });
  if (folded > 0)
    rows.push_back(
        {"", fmt::format("{} smaller part{}", folded, folded == 1 ? "" : "s"),
         rest, rest_percent, GapPart::Sense::kExact, rest_scaled});
  return rows;
}

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
  const bool of_gap = result.gap.slower != Side::kNeither;
  const std::string times_zero = PrintDigits(0, kDecimals, true);
  const bool scaled = result.causes.untraced;
  Table table;
  table.columns = {{"part of the gap", Align::kLeft, true},
                   {std::string(unit.name), Align::kPoint},
                   {of_gap ? "of gap" : "", Align::kRight},
                   {"", Align::kLeft},
                   {"", Align::kLeft}};
  if (scaled) table.columns.insert(table.columns.begin() + 3, {"scaled"});
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool ahead = rows[i].delta.num < 0;
    const Tint tint = ahead ? Tint::kAhead : Tint::kBehind;
    const bool lost = times.parts[i] == times_zero && rows[i].delta.num != 0;
    std::vector<Cell> cells = {
        rows[i].title,
        {lost ? PrintDigits(0, kDecimals, false) : times.parts[i],
         of_gap ? tint : Tint::kPlain},
        of_gap ? Decimal({rows[i].percent, 1}, 0) + " %" : std::string()};
    if (scaled) {
      cells.emplace_back(rows[i].scaled
                             ? SignedDecimal(*rows[i].scaled, kDecimals,
                                             unit.last_digit_ns * 1000)
                             : std::string());
    }
    cells.emplace_back(SignOf(rows[i].sense));
    cells.emplace_back(Bar(rows[i].delta, largest));
    table.Add(std::move(cells));
  }
  table.AddTotal({"gap", times.total, of_gap ? "100 %" : ""});
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
  const Printer time = [&](Rational ns) { return unit.Print(ns); };
  const StepMeans means_a(result.a, unit), means_b(result.b, unit);
  const auto add = [&](std::string_view title, const Stat& stat_a,
                       const Stat& stat_b, std::string mean_a,
                       std::string mean_b, const Printer& print) {
    if (stat_a.total == 0 && stat_b.total == 0) return;
    std::vector<Cell> cells = {title};
    AddStat(stat_a, spread, std::move(mean_a), print, &cells);
    AddStat(stat_b, spread, std::move(mean_b), print, &cells);
    const bool both = stat_a.total != 0 && stat_b.total != 0;
    if (fair)
      cells.emplace_back(both ? Ratio(stat_a.mean(), stat_b.mean())
                              : std::string(kDash));
    table.Add(std::move(cells));
  };
  for (const StepQuantity& quantity : kStepQuantities) {
    // A side without replays has no span of one.
    Stat of_a = a.*quantity.stat, of_b = b.*quantity.stat;
    if (quantity.stat == &PerStep::replay_span) {
      if (of_a.total == 0) of_a = {};
      if (of_b.total == 0) of_b = {};
    }
    add(quantity.title, of_a, of_b,
        of_a.n > 0 ? means_a.Text(quantity) : std::string(kDash),
        of_b.n > 0 ? means_b.Text(quantity) : std::string(kDash), time);
  }
  const auto count = [](const Stat& stat) {
    return stat.n > 0 ? CountText(stat.mean()) : std::string(kDash);
  };
  add("kernels", a.kernels, b.kernels, count(a.kernels), count(b.kernels),
      CountText);
  return table;
}

Table FamilyTable(const CompareResult& result, Side side,
                  const std::vector<FamilyAmounts>& families, size_t rows) {
  const SideTotals& totals =
      side == Side::kA ? result.a_totals : result.b_totals;
  const TableUnit unit = UnitOf(result);
  const Precision precision{0, unit.last_digit_ns};
  const Precision tenths{3, 1};
  const int64_t whole = std::max<int64_t>(totals.headline_ns, 1);
  const std::vector<int64_t> times =
      FamilyDigits(families, PrintSide(result, side, totals.steps, precision),
                   totals.steps, precision);
  const std::vector<int64_t> shares = FamilyDigits(
      families, PrintSide(result, side, whole, tenths), whole, tenths);
  Table table;
  table.columns = {{"kernel", Align::kLeft, true, true},
                   {std::string(unit.name)},
                   {"%"},
                   {"calls"},
                   {"\u00b5s a call"},
                   {"category", Align::kLeft}};
  const size_t shown = std::min(rows, families.size());
  for (size_t i = 0; i < shown; ++i) {
    const FamilyAmounts& family = families[i];
    const SideAmounts& amounts = family.amounts;
    const bool zero = amounts.attributed_ns == 0;
    table.Add({family.family, unit.Print(times[i], zero),
               PrintDigits(shares[i], 1, zero),
               CountText(totals.PerStep(amounts.count)),
               Decimal({amounts.sum_ns, amounts.count}, 2, 1000),
               TitleOf(family.category)});
  }
  if (shown == families.size()) return table;
  int64_t time = 0, share = 0;
  SideAmounts rest;
  for (size_t i = shown; i < families.size(); ++i) {
    time += times[i];
    share += shares[i];
    rest += families[i].amounts;
  }
  const bool zero = rest.attributed_ns == 0;
  table.Add({fmt::format("{} more", families.size() - shown),
             unit.Print(time, zero), PrintDigits(share, 1, zero),
             CountText(totals.PerStep(rest.count))});
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
