// SPDX-License-Identifier: Apache-2.0
#include "report/printed_categories.h"

#include <gtest/gtest.h>

#include <random>

#include "compare/gap.h"
#include "compare_fixture.h"
#include "report/printed_ledger.h"
#include "report/printed_side.h"

namespace inferdiff {
namespace {

// Groups as the comparison has them: only those that occur, by time.
CompareResult WithSide(const LedgerResult& ledger) {
  CompareResult result;
  SideTotals& side = result.a_totals;
  side.steps = ledger.used_steps;
  side.headline_ns = ledger.per_step.wall.total;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const Amounts& row = ledger.categories[i];
    side.categories[i] = {row.count, row.sum_ns, row.attributed_ns,
                          row.hidden_same_lane_ns, row.hidden_cross_lane_ns};
    side.all += side.categories[i];
  }
  side.idle_outside_ns = ledger.per_step.idle.total;
  result.groups = CompareGroups(CategoryGroups(), true, side, {});
  return result;
}

TEST(PrintedCategories, LedgerAndComparePrintTheSameDigits) {
  std::mt19937_64 random(7);
  const auto below = [&](uint64_t n) {
    return static_cast<int64_t>(random() % n);
  };
  for (int round = 0; round < 300; ++round) {
    FakeLedger fake(1 + below(9));
    int64_t sum = 0, same = 0;
    for (size_t c = 0; c < kCategoryCount; ++c) {
      if (below(3) == 0) continue;
      const int64_t time = 1000 + below(5000), hidden = below(900);
      fake.Kernel("k", static_cast<Category>(c), 1, time, hidden);
      sum += time;
      same += hidden;
    }
    fake.Walls(0, below(5000), 0)
        .Set(sum, &PerStep::sum)
        .Set(sum - same, &PerStep::busy)
        .Set(same, &PerStep::hidden_same_lane);
    const LedgerResult& ledger = fake.get();
    const Precision precision{0, 1000};
    // No families to distribute to.
    LedgerResult page = ledger;
    page.kernels.clear();
    const PrintedLedger one = PrintLedger(page, ledger.used_steps, precision);
    const CompareResult result = WithSide(ledger);
    const PrintedSide two =
        PrintSide(result, Side::kA, ledger.used_steps, precision);
    EXPECT_EQ(one.times, two.times);
    for (size_t c = 0; c < kCategoryCount; ++c)
      EXPECT_EQ(one.times[c] + one.hidden[c], two.sums[c]);
    int64_t busy = 0;
    for (const int64_t group : two.group_times) busy += group;
    EXPECT_EQ(busy, one.step.busy);
  }
}

}  // namespace
}  // namespace inferdiff
