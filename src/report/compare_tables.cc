// SPDX-License-Identifier: Apache-2.0
#include "report/compare_tables.h"

#include <fmt/core.h>

#include <limits>

#include "base/number.h"
#include "base/text.h"

namespace inferdiff {
namespace {

constexpr int kDecimals = 3;

/// One side of a line: totals over the side's steps.
struct Figures {
  int64_t time_ns = 0;  // attributed, foreign or idle
  int64_t sum_ns = 0;
  int64_t ops = 0;
};

struct CategoryLine {
  std::string title;
  Figures a, b;
  size_t parts = 0;     // > 0: the sum of that many lines that follow
  bool pseudo = false;  // foreign and idle have no operations
};

Figures FiguresOf(const SideAmounts& amounts) {
  return {amounts.attributed_ns, amounts.sum_ns, amounts.count};
}

CategoryLine LineOf(const CategoryComparison& row) {
  return {row.title, FiguresOf(row.a), FiguresOf(row.b), 0, false};
}

std::vector<CategoryLine> CategoryLines(const CompareResult& result) {
  std::vector<CategoryLine> lines;
  for (const GroupComparison& group : result.groups) {
    lines.push_back(LineOf(group.whole));
    lines.back().parts = group.parts.size();
    for (const CategoryComparison& part : group.parts) {
      lines.push_back(LineOf(part));
      lines.back().title = "\u00b7 " + part.title;
    }
  }
  const auto pseudo = [&](std::string title, int64_t SideTotals::*member) {
    lines.push_back({std::move(title),
                     {result.a_totals.*member},
                     {result.b_totals.*member},
                     0,
                     true});
  };
  const bool replay = result.gap.basis == Basis::kReplaySpan;
  pseudo(replay ? "other during the replay" : "foreign",
         &SideTotals::foreign_ns);
  if (result.gap.has_replays)
    pseudo("idle inside replays", &SideTotals::idle_inside_ns);
  if (!replay) pseudo(IdleTitle(result.gap), &SideTotals::idle_outside_ns);
  return lines;
}

/// Rounds the leaves by largest remainder and adds up each group from them, so
/// that every printed sum is the sum of what is printed.
std::vector<int64_t> RoundLines(const std::vector<CategoryLine>& lines,
                                const std::vector<Rational>& values,
                                int64_t unit) {
  std::vector<Rational> leaves;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].parts == 0) leaves.push_back(values[i]);
  }
  const std::vector<int64_t> rounded = AddingIntegers(leaves, unit);
  std::vector<int64_t> digits(lines.size(), 0);
  for (size_t i = 0, leaf = 0; i < lines.size(); ++i) {
    if (lines[i].parts == 0) digits[i] = rounded[leaf++];
    for (size_t part = 0; part < lines[i].parts; ++part)
      digits[i] += rounded[leaf + part];
  }
  return digits;
}

/// One side's cells: time, share, sum, operations.
class SideColumns {
 public:
  SideColumns(const std::vector<CategoryLine>& lines,
              Figures CategoryLine::*side, const SideTotals& totals,
              TableUnit unit)
      : lines_(lines), side_(side), totals_(totals), unit_(unit) {
    std::vector<Rational> times, hidden, shares;
    // Shares in tenths of a percent; beyond 100 days they are not printed.
    const bool printable =
        totals.headline_ns > 0 &&
        totals.headline_ns < std::numeric_limits<int64_t>::max() / 1000;
    for (const CategoryLine& line : lines) {
      const int64_t time = (line.*side).time_ns;
      times.push_back(totals.PerStep(time));
      const int64_t sum = line.pseudo ? time : (line.*side).sum_ns;
      hidden.push_back(totals.PerStep(sum - time));
      if (printable) shares.push_back({time * 1000, totals.headline_ns});
    }
    time_ = RoundLines(lines, times, unit.last_digit_ns);
    // A sum is printed as its time and what is hidden of it, so that rounding
    // never makes it the smaller of the two.
    sum_ = RoundLines(lines, hidden, unit.last_digit_ns);
    for (size_t i = 0; i < lines.size(); ++i)
      sum_[i] += lines[i].pseudo ? 0 : time_[i];
    if (printable) share_ = RoundLines(lines, shares, 1);
  }

  void AddTo(std::vector<Cell>* cells, size_t i, Tint tint) const {
    const Figures& figures = lines_[i].*side_;
    cells->emplace_back(unit_.Print(time_[i]), tint);
    cells->emplace_back(share_.empty() ? std::string(kDash)
                                       : Decimal({share_[i], 1}, 1, 10));
    const bool pseudo = lines_[i].pseudo;
    cells->emplace_back(pseudo ? "" : unit_.Print(sum_[i]));
    cells->emplace_back(pseudo ? "" : Count(figures.ops));
  }

  void AddTotalTo(std::vector<Cell>* cells) const {
    cells->emplace_back(unit_.Print(Total(time_)));
    cells->emplace_back(share_.empty() ? std::string(kDash)
                                       : Decimal({Total(share_), 1}, 1, 10));
    cells->emplace_back(unit_.Print(Total(sum_)));
    cells->emplace_back(Count(totals_.all.count));
  }

 private:
  std::string Count(int64_t ops) const {
    const Rational count = totals_.PerStep(ops);
    return Decimal(count, count.num % count.den == 0 ? 0 : 1);
  }

  int64_t Total(const std::vector<int64_t>& digits) const {
    int64_t total = 0;
    for (size_t i = 0; i < lines_.size(); i += 1 + lines_[i].parts)
      total += digits[i];
    return total;
  }

  const std::vector<CategoryLine>& lines_;
  Figures CategoryLine::*side_;
  const SideTotals& totals_;
  TableUnit unit_;
  std::vector<int64_t> time_, sum_, share_;
};

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

std::string TableUnit::Print(int64_t last_digits) const {
  return Decimal({last_digits, 1}, kDecimals, 1000);
}

std::string TableUnit::Print(Rational ns) const {
  return Decimal(ns, kDecimals, last_digit_ns * 1000);
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
  const std::vector<CategoryLine> lines = CategoryLines(result);
  const SideColumns a(lines, &CategoryLine::a, result.a_totals, unit);
  const SideColumns b(lines, &CategoryLine::b, result.b_totals, unit);
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
  for (size_t i = 0; i < lines.size(); ++i) {
    const Side ahead = fair ? AheadIn(lines[i], result) : Side::kNeither;
    std::vector<Cell> cells = {lines[i].title};
    a.AddTo(&cells, i, TintOf(Side::kA, ahead));
    b.AddTo(&cells, i, TintOf(Side::kB, ahead));
    if (fair) AddVerdict(result, lines[i], ahead, &cells);
    table.Add(std::move(cells));
  }
  std::vector<Cell> total = {std::string(TitleOf(result.gap.basis))};
  a.AddTotalTo(&total);
  b.AddTotalTo(&total);
  if (fair) {
    total.emplace_back(Ratio(result.gap.a_total, result.gap.b_total));
    total.emplace_back(AheadText(Other(result.gap.slower)));
  }
  table.AddTotal(std::move(total));
  return table;
}

}  // namespace inferdiff
