// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "report/compare_tables.h"

namespace inferdiff {
namespace {

constexpr int kDecimals = 3;

/// Prints the columns of one table.
class Printer {
 public:
  explicit Printer(const CompareResult& result)
      : causes_(result.causes), unit_(UnitOf(result)) {}

  bool splits() const { return causes_.not_separable.empty(); }
  std::string_view unit() const { return unit_.name; }

  void Add(std::string title, const SideAmounts* a, const SideAmounts* b,
           Rational time_a, Rational time_b, Rational delta,
           const FloorSplit* split, bool total, Table* table) const {
    std::vector<Cell> cells = {std::move(title),       unit_.Print(time_a),
                               Ops(causes_.a_base, a), unit_.Print(time_b),
                               Ops(causes_.b_base, b), Signed(delta)};
    if (splits()) {
      for (Rational FloorSplit::*term :
           {&FloorSplit::count, &FloorSplit::price, &FloorSplit::rest})
        cells.emplace_back(split != nullptr ? Signed(split->*term) : "");
    }
    if (total)
      table->AddTotal(std::move(cells));
    else
      table->Add(std::move(cells));
  }

 private:
  static std::string Ops(const SideTotals& side, const SideAmounts* amounts) {
    if (amounts == nullptr) return {};
    return side.counts_known ? CountText(side.PerStep(amounts->count))
                             : std::string(kDash);
  }
  std::string Signed(Rational delta) const {
    return SignedDecimal(delta, kDecimals, unit_.last_digit_ns * 1000);
  }

  const Causes& causes_;
  TableUnit unit_;
};

}  // namespace

Table CausesTable(const CompareResult& result) {
  const Causes& causes = result.causes;
  const SideTotals& a = causes.a_base;
  const SideTotals& b = causes.b_base;
  const Printer print(result);
  Table table;
  table.columns = {{"a step", Align::kLeft, true},
                   {fmt::format("A {}", print.unit())},
                   {"ops"},
                   {fmt::format("B {}", print.unit())},
                   {"ops"},
                   {"B \u2212 A"}};
  if (print.splits())
    for (const char* term : {"count", "price", "rest"})
      table.columns.push_back({term});
  const bool sums = causes.residual.concurrency_known;
  const auto work = [&](const SideTotals& side, const SideAmounts& row) {
    return side.PerStep(sums ? row.sum_ns - row.hidden_same_lane_ns
                             : row.attributed_ns);
  };
  for (size_t i = 0; i < causes.groups.size(); ++i) {
    const CategoryComparison& row = causes.groups[i].whole;
    print.Add(row.title, &row.a, &row.b, work(a, row.a), work(b, row.b),
              row.work, print.splits() ? &causes.by_group[i] : nullptr, false,
              &table);
  }
  const auto pseudo = [&](std::string title, int64_t of_a, int64_t of_b,
                          const FloorSplit* split) {
    if (of_a == 0 && of_b == 0) return;
    const Rational time_a = a.PerStep(of_a), time_b = b.PerStep(of_b);
    print.Add(std::move(title), nullptr, nullptr, time_a, time_b,
              time_b - time_a, split, false, &table);
  };
  FloorSplit gaps;  // no operation of their own
  gaps.rest = causes.residual.idle_inside;
  pseudo("idle inside replays", a.idle_inside_ns, b.idle_inside_ns, &gaps);
  pseudo("rank wait", a.rank_wait.attributed_ns, b.rank_wait.attributed_ns,
         nullptr);
  if (sums)
    pseudo("hidden by other streams",
           a.rank_wait.hidden_cross_lane_ns - a.all.hidden_cross_lane_ns,
           b.rank_wait.hidden_cross_lane_ns - b.all.hidden_cross_lane_ns,
           nullptr);
  pseudo("foreign", a.foreign_ns, b.foreign_ns, nullptr);
  pseudo(IdleTitle(causes.residual), a.idle_outside_ns, b.idle_outside_ns,
         nullptr);
  for (const IdlePart& part : causes.idle)
    print.Add(fmt::format("\u00b7 {}", part.title), nullptr, nullptr, part.a,
              part.b, part.b - part.a, nullptr, false, &table);
  print.Add(std::string(TitleOf(causes.residual.basis)), &a.all, &b.all,
            causes.residual.a_total, causes.residual.b_total,
            causes.residual.total, &causes.work, true, &table);
  return table;
}

}  // namespace inferdiff
