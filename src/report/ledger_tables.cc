// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_tables.h"

#include <fmt/core.h>

#include <algorithm>

#include "report/ledger_facts.h"
#include "report/printed_ledger.h"

namespace inferdiff {
namespace {

// Digits behind the point that show a step's amounts to about 0.1 %.
int DecimalsOf(TimeUnit unit) { return unit.ns == 1 ? 1 : 3; }

/// A ledger's times in its unit, and as tenths of a percent of the whole.
struct Digits {
  explicit Digits(const LedgerResult& ledger)
      : unit(StepUnit(ledger)),
        decimals(DecimalsOf(unit)),
        times(PrintLedger(ledger, std::max<int64_t>(ledger.used_steps, 1),
                          {decimals, unit.ns})),
        shares(PrintLedger(ledger, std::max<int64_t>(WholeOf(ledger), 1),
                           {3, 1})) {}

  std::string Time(int64_t digits, bool zero) const {
    return PrintDigits(digits, decimals, zero);
  }
  std::string Time(Rational ns) const {
    return Time(RoundedTo(ns, {decimals, unit.ns}), ns.num == 0);
  }
  // An empty cell for zero: a table of zeros hides the others.
  std::string UnlessZero(int64_t digits, bool zero) const {
    return zero ? "" : Time(digits, false);
  }

  TimeUnit unit;
  int decimals;
  PrintedLedger times, shares;
};

// What a narrow column shows of a kernel: the arguments of a template would
// push its own name out, so its family stands for it.
std::string ColumnName(const KernelRow& row) {
  const std::string& name = row.name;
  const bool instance = name.find('<') != std::string::npos &&
                        (name.ends_with('>') || name.ends_with(')'));
  return instance || name.starts_with("(anonymous") ? row.family
                                                    : WithoutParameters(name);
}

// Adds a line for what is not zero in every step. `mean` in last digits where
// the quantity is one of the parts that add up.
void AddQuantity(const std::string& name, const Stat& stat,
                 std::optional<int64_t> mean, const Digits& digits,
                 Table& table) {
  if (stat.n == 0 || (stat.min == 0 && stat.max == 0)) return;
  const auto value = [&](int64_t ns) { return digits.Time({ns, 1}); };
  table.Add({name, mean ? digits.Time(*mean, false) : digits.Time(stat.mean()),
             value(stat.median), value(stat.p10), value(stat.p90),
             value(stat.min), value(stat.max)});
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
    rows.push_back({static_cast<Category>(i), ledger.categories[i]});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CategoryRow& a, const CategoryRow& b) {
                     return a.amounts.attributed_ns > b.amounts.attributed_ns;
                   });
  return rows;
}

Table CategoryTable(const LedgerResult& ledger) {
  const std::vector<CategoryRow> rows = CategoryRows(ledger);
  const Digits digits(ledger);
  const PrintedLedger &times = digits.times, &shares = digits.shares;
  Table table;
  table.columns = {{"Category", Align::kLeft},
                   {std::string(digits.unit.name)},
                   {"%"},
                   {"ops"},
                   {"sum"},
                   {"exposed"},
                   {"hidden"}};
  Amounts all;
  for (const CategoryRow& row : CategoryRows(ledger)) {
    const auto c = static_cast<size_t>(row.category);
    const Amounts& amounts = row.amounts;
    const bool zero = amounts.attributed_ns == 0;
    const int64_t exposed = RoundedTo(PerUsedStep(ledger, amounts.exclusive_ns),
                                      {digits.decimals, digits.unit.ns});
    table.Add({TitleOf(row.category), digits.Time(times.times[c], zero),
               PrintDigits(shares.times[c], 1, zero),
               CountText(PerUsedStep(ledger, amounts.count)),
               digits.UnlessZero(times.times[c] + times.hidden[c],
                                 amounts.sum_ns == 0),
               digits.UnlessZero(exposed, amounts.exclusive_ns == 0),
               digits.UnlessZero(times.hidden[c], amounts.hidden_ns() == 0)});
    all.Add(amounts);
  }
  if (const Amounts& wait = ledger.rank_wait; wait.sum_ns > 0) {
    table.Add(
        {RankWaitTitle(ledger), digits.Time(times.wait_time, false),
         PrintDigits(shares.wait_time, 1, false), "",
         digits.Time(times.wait_time + times.wait_hidden, false),
         digits.UnlessZero(RoundedTo(PerUsedStep(ledger, wait.exclusive_ns),
                                     {digits.decimals, digits.unit.ns}),
                           wait.exclusive_ns == 0),
         digits.UnlessZero(times.wait_hidden, wait.hidden_ns() == 0)});
  }
  const StepParts totals = TotalsOf(ledger.per_step);
  const auto add_pseudo = [&](std::string_view name, int64_t StepParts::*part) {
    if (totals.*part == 0) return;
    table.Add({name, digits.Time(times.step.*part, false),
               PrintDigits(shares.step.*part, 1, false)});
  };
  add_pseudo(kForeignTitle, &StepParts::foreign);
  if (WallKnown(ledger)) {
    add_pseudo(kIdleInsideTitle, &StepParts::inside);
    add_pseudo(totals.inside == 0 ? "idle" : kIdleOutsideTitle,
               &StepParts::outside);
  }
  table.AddTotal({WallKnown(ledger) ? "wall" : "busy",
                  digits.Time(times.step.whole, totals.whole == 0),
                  PrintDigits(shares.step.whole, 1, totals.whole == 0),
                  CountText(PerUsedStep(ledger, all.count)),
                  digits.UnlessZero(times.step.sum, totals.sum == 0), "",
                  digits.UnlessZero(times.step.hidden, totals.hidden == 0)});
  return table;
}

bool IsWanted(const std::vector<Category>& categories, Category category) {
  return categories.empty() ||
         std::count(categories.begin(), categories.end(), category) > 0;
}

Table KernelTable(const LedgerResult& ledger, size_t top,
                  const std::vector<Category>& wanted) {
  const Digits digits(ledger);
  Table table;
  table.columns = {{"Kernel", Align::kLeft, true, true},
                   {"category", Align::kLeft},
                   {std::string(digits.unit.name)},
                   {"%"},
                   {"calls"},
                   SpareColumn("p10"),
                   {"p50 \u00b5s"},
                   SpareColumn("p90")};
  const bool waits = ledger.rank_wait.sum_ns > 0;
  if (waits) table.columns.push_back({"+ wait"});
  for (size_t i = 0; i < ledger.kernels.size(); ++i) {
    const KernelRow& row = ledger.kernels[i];
    if (table.rows.size() == top) break;
    if (!IsWanted(wanted, row.category)) continue;
    const Amounts& amounts = row.amounts;
    const Stat& call = row.call_ns;
    const auto micros = [](int64_t ns) { return Decimal({ns, 1}, 1, 1000); };
    const bool zero = amounts.attributed_ns == 0;
    table.Add({ColumnName(row), TitleOf(row.category),
               digits.Time(digits.times.kernels[i], zero),
               PrintDigits(digits.shares.kernels[i], 1, zero),
               CountText(PerUsedStep(ledger, amounts.count)), micros(call.p10),
               micros(call.median), micros(call.p90)});
    if (!waits) continue;
    table.rows.back().cells.emplace_back(
        row.rank_wait_ns == 0
            ? std::string()
            : digits.Time(PerUsedStep(ledger, row.rank_wait_ns)));
  }
  return table;
}

Table QuantityTable(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  const Digits digits(ledger);
  const StepParts& step = digits.times.step;
  const bool parts = q.wall.n == ledger.used_steps;
  Table table;
  table.columns = {
      {"", Align::kLeft}, {"mean"},          {"median"}, {"p10"}, {"p90"},
      SpareColumn("min"), SpareColumn("max")};
  const auto alone = [&](const std::string& name, const Stat& stat) {
    AddQuantity(name, stat, {}, digits, table);
  };
  const auto part = [&](const std::string& name, const Stat& stat,
                        int64_t mean) {
    AddQuantity(name, stat, parts ? std::optional(mean) : std::nullopt, digits,
                table);
  };
  part("wall", q.wall, step.whole);
  alone("span", q.span);
  alone("span of its largest replay", q.replay_span);
  part("sum of durations", q.sum, step.sum);
  alone("  " + RankWaitTitle(ledger), q.rank_wait);
  part("busy", q.busy, step.busy);
  alone("copies alone", q.copy_only);
  part("hidden on the same lane", q.hidden_same_lane, step.hidden_same_lane);
  part("hidden behind other lanes", q.hidden_cross_lane,
       step.hidden_cross_lane);
  part("foreign", q.foreign, step.foreign);
  part("idle", q.idle, step.idle);
  part("  inside replays", q.idle_inside, step.inside);
  part("  between replays", q.idle_between, step.between);
  part("  host-launched tail", q.idle_tail, step.tail);
  part("  host late", q.rest_host_late, step.host_late);
  part("  queued", q.rest_queued, step.queued);
  part("  cause unknown", q.rest_unknown, step.unknown);
  alone("launch lead, a launch", q.launch_lead);
  const Stat& kernels = q.kernels;
  const auto count = [](int64_t n) { return fmt::format("{}", n); };
  table.Add({"kernels (count)", CountText(kernels.mean()),
             count(kernels.median), count(kernels.p10), count(kernels.p90),
             count(kernels.min), count(kernels.max)});
  return table;
}

Table FamilyTable(const LedgerResult& ledger, size_t top) {
  const Digits digits(ledger);
  Table table;
  table.columns = {{"Family", Align::kLeft, true, true},
                   {"category", Align::kLeft},
                   {std::string(digits.unit.name)},
                   {"%"},
                   {"calls"},
                   {"kernels"}};
  for (size_t i = 0; i < ledger.families.size() && i < top; ++i) {
    const FamilyRow& row = ledger.families[i];
    const Amounts& amounts = row.amounts;
    const bool zero = amounts.attributed_ns == 0;
    table.Add({row.family, TitleOf(row.category),
               digits.Time(digits.times.families[i], zero),
               PrintDigits(digits.shares.families[i], 1, zero),
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
