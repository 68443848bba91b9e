// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_tables.h"

#include <fmt/core.h>

#include <algorithm>

#include "report/ledger_facts.h"

namespace inferdiff {
namespace {

// Digits behind the point that show a step's amounts to about 0.1 %.
int DecimalsOf(TimeUnit unit) { return unit.ns == 1 ? 1 : 3; }

std::string CountText(Rational count) {
  return Decimal(count, count.num % count.den == 0 ? 0 : 1);
}

// "12.3" or an empty cell for zero: a table of zeros hides the others.
std::string UnlessZero(Rational ns, int decimals, TimeUnit unit) {
  return ns.num == 0 ? "" : Decimal(ns, decimals, unit.ns);
}

// What a narrow column shows of a kernel: the arguments of a template would
// push its own name out, so its family stands for it.
std::string ColumnName(const KernelRow& row) {
  const std::string& name = row.name;
  const bool instance = name.find('<') != std::string::npos &&
                        (name.ends_with('>') || name.ends_with(')'));
  return instance || name.starts_with("(anonymous") ? row.family
                                                    : WithoutParameters(name);
}

void AddQuantity(const std::string& name, const Stat& stat, TimeUnit unit,
                 Table& table) {
  if (stat.n == 0) return;
  const auto value = [&](Rational ns) {
    return Decimal(ns, DecimalsOf(unit), unit.ns);
  };
  table.Add({name, value(stat.mean()), value({stat.median, 1}),
             value({stat.p10, 1}), value({stat.p90, 1}), value({stat.min, 1}),
             value({stat.max, 1})});
}

void AddQuantityUnlessZero(const std::string& name, const Stat& stat,
                           TimeUnit unit, Table& table) {
  if (stat.min != 0 || stat.max != 0) AddQuantity(name, stat, unit, table);
}

// "2.05 µs": the end of a bucket of powers of two.
std::string BucketText(size_t i) {
  return "< " + Duration({int64_t{1} << std::min<size_t>(i + 1, 62), 1});
}

std::string Bar(int64_t part, int64_t largest) {
  constexpr int64_t kWidth = 24;
  std::string bar;
  const int64_t length =
      largest == 0 ? 0 : static_cast<int64_t>(part / (largest / kWidth + 1));
  for (int64_t i = 0; i < std::min(length, kWidth); ++i) bar += "\u2588";
  return bar;
}

}  // namespace

bool WallKnown(const LedgerResult& ledger) {
  return ledger.per_step.wall.n > 0;
}

int64_t WholeOf(const LedgerResult& ledger) {
  const PerStep& per_step = ledger.per_step;
  return WallKnown(ledger) ? per_step.wall.total
                           : per_step.busy.total + per_step.foreign.total;
}

TimeUnit StepUnit(const LedgerResult& ledger) {
  return UnitFor({PerUsedStep(ledger, WholeOf(ledger))});
}

std::vector<CategoryRow> CategoryRows(const LedgerResult& ledger) {
  std::vector<CategoryRow> rows;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    if (ledger.categories[i].count == 0) continue;
    rows.push_back(
        {std::string(TitleOf(static_cast<Category>(i))), ledger.categories[i]});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CategoryRow& a, const CategoryRow& b) {
                     return a.amounts.attributed_ns > b.amounts.attributed_ns;
                   });
  const auto add_pseudo = [&](std::string name, int64_t total_ns) {
    CategoryRow row{std::move(name), {}, true};
    row.amounts.attributed_ns = total_ns;
    rows.push_back(std::move(row));
  };
  const PerStep& per_step = ledger.per_step;
  if (per_step.foreign.total > 0)
    add_pseudo("foreign (others' work)", per_step.foreign.total);
  if (!WallKnown(ledger)) return rows;
  add_pseudo("idle inside replays", per_step.idle_inside.total);
  add_pseudo("idle outside replays",
             per_step.idle.total - per_step.idle_inside.total);
  return rows;
}

Table CategoryTable(const LedgerResult& ledger) {
  const std::vector<CategoryRow> rows = CategoryRows(ledger);
  const TimeUnit unit = StepUnit(ledger);
  const int decimals = DecimalsOf(unit);
  std::vector<Rational> attributed;
  for (const CategoryRow& row : rows)
    attributed.push_back(PerUsedStep(ledger, row.amounts.attributed_ns));
  const PrintedColumn times = AddingColumn(attributed, decimals, unit.ns);
  const PrintedColumn shares = PercentColumn(attributed, 1);
  Table table;
  table.columns = {{"Category", Align::kLeft},
                   {std::string(unit.name)},
                   {"%"},
                   {"ops"},
                   {"sum"},
                   {"exposed"},
                   {"hidden"}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Amounts& amounts = rows[i].amounts;
    std::vector<Cell> cells = {rows[i].name, times.parts[i], shares.parts[i]};
    if (!rows[i].pseudo) {
      cells.push_back(CountText(PerUsedStep(ledger, amounts.count)));
      for (const int64_t ns :
           {amounts.sum_ns, amounts.exclusive_ns, amounts.hidden_ns()}) {
        cells.push_back(UnlessZero(PerUsedStep(ledger, ns), decimals, unit));
      }
    }
    table.Add(std::move(cells));
  }
  table.AddTotal(
      {WallKnown(ledger) ? "wall" : "busy", times.total, shares.total});
  return table;
}

bool IsWanted(const std::vector<Category>& categories, Category category) {
  return categories.empty() ||
         std::count(categories.begin(), categories.end(), category) > 0;
}

Table KernelTable(const LedgerResult& ledger, size_t top,
                  const std::vector<Category>& wanted) {
  const Rational whole{WholeOf(ledger), 1};
  const TimeUnit unit = StepUnit(ledger);
  Table table;
  table.columns = {{"Kernel", Align::kLeft, true, true},
                   {"category", Align::kLeft},
                   {std::string(unit.name)},
                   {"%"},
                   {"calls"},
                   SpareColumn("p10"),
                   {"p50 \u00b5s"},
                   SpareColumn("p90")};
  for (const KernelRow& row : ledger.kernels) {
    if (table.rows.size() == top) break;
    if (!IsWanted(wanted, row.category)) continue;
    const Amounts& amounts = row.amounts;
    const Stat& call = row.call_ns;
    const auto micros = [](int64_t ns) { return Decimal({ns, 1}, 1, 1000); };
    table.Add({ColumnName(row), TitleOf(row.category),
               Decimal(PerUsedStep(ledger, amounts.attributed_ns),
                       DecimalsOf(unit), unit.ns),
               Percent({amounts.attributed_ns, 1}, whole),
               CountText(PerUsedStep(ledger, amounts.count)), micros(call.p10),
               micros(call.median), micros(call.p90)});
  }
  return table;
}

Table QuantityTable(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  const TimeUnit unit = StepUnit(ledger);
  Table table;
  table.columns = {
      {"", Align::kLeft}, {"mean"},          {"median"}, {"p10"}, {"p90"},
      SpareColumn("min"), SpareColumn("max")};
  AddQuantity("wall", q.wall, unit, table);
  AddQuantity("span", q.span, unit, table);
  AddQuantityUnlessZero("span of its largest replay", q.replay_span, unit,
                        table);
  AddQuantity("sum of durations", q.sum, unit, table);
  AddQuantity("busy", q.busy, unit, table);
  AddQuantityUnlessZero("copies alone", q.copy_only, unit, table);
  AddQuantityUnlessZero("hidden on the same lane", q.hidden_same_lane, unit,
                        table);
  AddQuantityUnlessZero("hidden behind other lanes", q.hidden_cross_lane, unit,
                        table);
  AddQuantityUnlessZero("foreign", q.foreign, unit, table);
  AddQuantity("idle", q.idle, unit, table);
  AddQuantityUnlessZero("  inside replays", q.idle_inside, unit, table);
  AddQuantityUnlessZero("  outside: host late", q.idle_host_late, unit, table);
  AddQuantityUnlessZero("  outside: queued", q.idle_queued, unit, table);
  AddQuantityUnlessZero("  outside: cause unknown", q.idle_unknown, unit,
                        table);
  AddQuantityUnlessZero("launch lead, a launch", q.launch_lead, unit, table);
  const Stat& kernels = q.kernels;
  const auto count = [](int64_t n) { return fmt::format("{}", n); };
  table.Add({"kernels (count)", CountText(kernels.mean()),
             count(kernels.median), count(kernels.p10), count(kernels.p90),
             count(kernels.min), count(kernels.max)});
  return table;
}

Table FamilyTable(const LedgerResult& ledger, size_t top) {
  const Rational whole{WholeOf(ledger), 1};
  const TimeUnit unit = StepUnit(ledger);
  Table table;
  table.columns = {{"Family", Align::kLeft, true, true},
                   {"category", Align::kLeft},
                   {std::string(unit.name)},
                   {"%"},
                   {"calls"},
                   {"kernels"}};
  for (const FamilyRow& row : ledger.families) {
    if (table.rows.size() == top) break;
    const Amounts& amounts = row.amounts;
    table.Add({row.family, TitleOf(row.category),
               Decimal(PerUsedStep(ledger, amounts.attributed_ns),
                       DecimalsOf(unit), unit.ns),
               Percent({amounts.attributed_ns, 1}, whole),
               CountText(PerUsedStep(ledger, amounts.count)),
               fmt::format("{}", row.kernels)});
  }
  return table;
}

Table HistogramTable(const LedgerResult& ledger) {
  std::vector<size_t> buckets;
  std::vector<Rational> times;
  int64_t largest = 0;
  for (size_t i = 0; i < ledger.histogram.size(); ++i) {
    if (ledger.histogram[i].count == 0) continue;
    buckets.push_back(i);
    times.push_back({ledger.histogram[i].sum_ns, 1});
    largest = std::max(largest, ledger.histogram[i].sum_ns);
  }
  const PrintedColumn shares = PercentColumn(times, 1);
  Table table;
  table.columns = {{"a call takes", Align::kRight},
                   {"calls a step"},
                   {"% of the sum"},
                   {"", Align::kLeft}};
  for (size_t i = 0; i < buckets.size(); ++i) {
    const HistogramBucket& bucket = ledger.histogram[buckets[i]];
    table.Add({BucketText(buckets[i]),
               CountText(PerUsedStep(ledger, bucket.count)), shares.parts[i],
               Bar(bucket.sum_ns, largest)});
  }
  return table;
}

}  // namespace inferdiff
