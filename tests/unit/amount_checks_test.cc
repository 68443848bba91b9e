// SPDX-License-Identifier: Apache-2.0
// Checks that need amounts: the edges of their thresholds.
#include "ledger/amount_checks.h"

#include <gtest/gtest.h>

#include <limits>

#include "ledger/attention_check.h"
#include "ledger/expert_check.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

LedgerResult Steps(int64_t steps, int64_t wall_ns) {
  LedgerResult ledger;
  ledger.used_steps = steps;
  ledger.per_step.wall.n = steps;
  ledger.per_step.wall.total = steps * wall_ns;
  ledger.per_step.kernels.total = 100 * steps;
  return ledger;
}

TEST(CopyOnly, AFiftiethAndATenth) {
  LedgerResult ledger = Steps(10, 1000);
  ledger.per_step.copy_only.total = 199;
  EXPECT_FALSE(CheckCopyOnly(ledger));
  ledger.per_step.copy_only.total = 200;
  EXPECT_EQ(CheckCopyOnly(ledger)->weight, Weight::kNote);
  ledger.per_step.copy_only.total = 1000;
  EXPECT_EQ(CheckCopyOnly(ledger)->weight, Weight::kReservation);
  EXPECT_FALSE(CheckCopyOnly(LedgerResult()));
}

TEST(WholeStepKernel, HalfOfAStepButNoCollective) {
  LedgerResult ledger = Steps(10, 1000);
  KernelRow row;
  row.amounts.count = row.call_ns.n = 10;
  row.call_ns.median = 500;
  row.family = "spin";
  ledger.kernels = {row};
  ASSERT_TRUE(CheckWholeStepKernel(ledger));
  EXPECT_EQ(CheckWholeStepKernel(ledger)->detail, "spin");
  ledger.kernels[0].call_ns.median = 499;
  EXPECT_FALSE(CheckWholeStepKernel(ledger));
  ledger.kernels[0].call_ns.median = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(CheckWholeStepKernel(ledger));
  ledger.per_step.kernels.total = 10;  // a benchmark of one kernel
  EXPECT_FALSE(CheckWholeStepKernel(ledger));
  ledger.per_step.kernels.total = 1000;
  ledger.kernels[0].category = Category::kCommunication;
  EXPECT_FALSE(CheckWholeStepKernel(ledger));
}

/// Walls of steps whose contexts rise by 100, or are unknown.
LedgerResult WithWalls(const std::vector<int64_t>& walls, bool known) {
  LedgerResult ledger;
  ledger.steps.groups.resize(1);
  ledger.steps.groups[0].shape.kind = StepKind::kDecode;
  int64_t at = 0;
  for (const int64_t wall : walls) {
    Step& step = ledger.steps.steps.emplace_back();
    step.shape.kind = StepKind::kDecode;
    if (known) step.shape.context = at;
    step.begin_ns = at;
    step.next_begin_ns = at + wall;
    at += wall;
  }
  return ledger;
}

TEST(ContextTrend, RisesInOrder) {
  std::vector<int64_t> rising, turns;
  for (int64_t i = 0; i < 18; ++i) {
    rising.push_back(1000 + 10 * i);
    turns.push_back(1000 + 100 * (i % 2));
  }
  for (const bool known : {true, false}) {
    const auto check = CheckContextTrend(WithWalls(rising, known));
    ASSERT_TRUE(check);
    EXPECT_EQ(check->count, 6);
    EXPECT_EQ(check->of, 18);
    EXPECT_EQ(check->time_ns, 6 * 120);
    EXPECT_EQ(check->detail.empty(), known);
    EXPECT_FALSE(CheckContextTrend(WithWalls(turns, known)));
  }
  rising.resize(15);
  EXPECT_TRUE(CheckContextTrend(WithWalls(rising, true)));
  EXPECT_FALSE(CheckContextTrend(WithWalls(rising, false)));
  EXPECT_FALSE(CheckContextTrend(LedgerResult()));
}

// Walls in us of a capture whose first step is late and whose host is noisy.
TEST(ContextTrend, IsSeenThroughNoiseWhereTheContextIsKnown) {
  const std::vector<int64_t> walls = {1579, 1149, 1113, 1221, 1349, 1215,
                                      1314, 1421, 1521, 1651, 1863};
  EXPECT_TRUE(CheckContextTrend(WithWalls(walls, true)));
  const std::vector<int64_t> noise = {1579, 1149, 1113, 1221, 1349, 1215,
                                      1314, 1221, 1321, 1251, 1263};
  EXPECT_FALSE(CheckContextTrend(WithWalls(noise, true)));
}

TEST(Dilation, ExactAtATwentieth) {
  const LedgerResult ledger = Steps(3, 1050);
  EXPECT_EQ(CheckDilation(ledger, 1000)->weight, Weight::kReservation);
  EXPECT_EQ(CheckDilation(ledger, 1001)->weight, Weight::kNote);
  EXPECT_EQ(CheckDilation(ledger, 2000)->weight, Weight::kNote);  // faster
  EXPECT_FALSE(CheckDilation(ledger, std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(CheckDilation(LedgerResult(), 1000));
}

/// Six steps with two expert GEMMs each, of which the second takes `dur(step)`,
/// and a dense one that takes `dense(step)`.
template <typename Duration, typename Dense>
std::optional<CaptureCheck> ExpertsOf(const Duration& dur, const Dense& dense) {
  TraceBuilder builder;
  for (int i = 0; i < 6; ++i) {
    builder.Mark("step[DECODE bs=4]", 1000 * i, 900);
    builder.Eager("experts", 1000 * i + 5, 1000 * i + 10, 100);
    builder.Eager("experts", 1000 * i + 6, 1000 * i + 200, dur(i));
    builder.Eager("dense", 1000 * i + 7, 1000 * i + 600, dense(i));
  }
  const Trace trace = builder.Build();
  Classification classes = ClassesByWord(trace);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const std::string_view name = (*trace.names)[trace.ops.name[i]];
    if (name == "experts") classes.of_op[i] = Category::kMoeGemm;
    if (name == "dense") classes.of_op[i] = Category::kDenseGemm;
  }
  const inferdiff::Steps steps = FindSteps(trace, classes);
  const StepOps index(trace, steps,
                      std::vector<bool>(steps.steps.size(), true));
  return CheckUnevenExperts(index, classes);
}

TEST(UnevenExperts, OverStepsAtOnePlace) {
  const auto even = [](int) { return 50; };
  const auto rising = [](int i) { return 60 + 40 * i; };
  const auto uneven = ExpertsOf(rising, even);
  ASSERT_TRUE(uneven);
  EXPECT_EQ(uneven->count, 2);
  EXPECT_GT(uneven->time_ns, 0);
  // Unlike within the step, alike from step to step: another shape.
  EXPECT_FALSE(ExpertsOf([](int) { return 300; }, even));
  // 30 and 29 of the two medians' 200.
  EXPECT_TRUE(ExpertsOf([](int i) { return i < 3 ? 100 : 130; }, even));
  EXPECT_FALSE(ExpertsOf([](int i) { return i < 3 ? 100 : 129; }, even));
  // The machine's own doing, which dense GEMMs see too.
  EXPECT_FALSE(ExpertsOf(rising, rising));
}

/// Steps of 1 ms with two attention kernels, of which the second takes
/// `dur(step)`; `known` puts the context into the markers.
template <typename Duration>
std::optional<CaptureCheck> AttentionOf(int steps, const Duration& dur,
                                        bool known = false) {
  TraceBuilder builder;
  for (int i = 0; i < steps; ++i) {
    const std::string context = std::to_string(1000 + i);
    builder.Mark(known ? "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4("
                         "sq4sk" +
                             context + "sqsq4sqsk" + context + ")"
                       : "step[DECODE bs=4]",
                 1000 * i, 900);
    builder.Eager("attention", 1000 * i + 5, 1000 * i + 10, 100);
    builder.Eager("attention", 1000 * i + 7, 1000 * i + 200, dur(i));
    builder.Eager("k", 1000 * i + 8, 1000 * i + 600, 100);
  }
  const Trace trace = builder.Build();
  Classification classes = ClassesByWord(trace);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if ((*trace.names)[trace.ops.name[i]] == "attention")
      classes.of_op[i] = Category::kAttention;
  }
  const inferdiff::Steps found = FindSteps(trace, classes);
  const StepOps index(trace, found,
                      std::vector<bool>(found.steps.size(), true));
  return CheckAttentionTrend(index, classes);
}

TEST(AttentionTrend, RisesFromStepToStep) {
  const auto check = AttentionOf(6, [](int i) { return 50 + 10 * i; });
  ASSERT_TRUE(check);
  EXPECT_EQ(check->weight, Weight::kNote);
  EXPECT_EQ(check->detail, kTrendOfAttention);
  EXPECT_EQ(check->count, 2);
  EXPECT_EQ(check->of, 6);
  EXPECT_EQ(check->time_ns, 80'000);
  EXPECT_EQ(check->of_ns, 2'000'000);
  EXPECT_FALSE(AttentionOf(
      6, [](int i) { return 50 + 10 * i; }, true));
  EXPECT_FALSE(AttentionOf(4, [](int i) { return 50 + 50 * i; }));
  EXPECT_FALSE(AttentionOf(6, [](int) { return 50; }));
  EXPECT_FALSE(AttentionOf(6, [](int i) { return 50 + 4 * i; }));  // 1.6 %
  // One pair in 15 the other way round.
  EXPECT_FALSE(AttentionOf(6, [](int i) { return i == 3 ? 60 : 50 + 10 * i; }));
}

}  // namespace
}  // namespace inferdiff
