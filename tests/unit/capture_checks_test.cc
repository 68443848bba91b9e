// SPDX-License-Identifier: Apache-2.0
// Checks of a capture: their edges, and what ranks make of them together.
#include <gtest/gtest.h>

#include <limits>

#include "integrity/check_capture.h"
#include "integrity/host_checks.h"
#include "integrity/stamp_checks.h"
#include "readers/launch_tally.h"
#include "readers/repeated_records.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(MergeChecks, AddsUpWhatRanksSay) {
  CaptureCheck note{
      CheckKind::kClockJump, Weight::kNote, 2, 3, kMost, 5, "a", {0}};
  CaptureCheck grave{
      CheckKind::kClockJump, Weight::kRefusal, 1, 1, 7, 1, "b", {2}};
  CaptureCheck other{
      CheckKind::kLateBurst, Weight::kReservation, 1, 0, 0, 0, "", {}};
  std::vector<CaptureCheck> checks;
  MergeChecks({note}, &checks);
  MergeChecks({other, grave}, &checks);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].kind, CheckKind::kClockJump);  // a refusal comes first
  EXPECT_EQ(checks[0].weight, Weight::kRefusal);
  EXPECT_EQ(checks[0].count, 3);
  EXPECT_EQ(checks[0].of, 4);
  EXPECT_EQ(checks[0].time_ns, kMost);
  EXPECT_EQ(checks[0].detail, "b");
  EXPECT_EQ(checks[0].ranks, (std::vector<uint32_t>{0, 2}));
  EXPECT_TRUE(HasGraveCheck(checks));
  EXPECT_FALSE(HasGraveCheck({note}));
}

TEST(LaunchTally, LeavesOutWhatTheWindowMayCut) {
  LaunchTallyBuilder tally;
  for (const bool answered : {false, true, false, false, true, false})
    tally.Add(CallKind::kKernelLaunch, answered);
  tally.Add(CallKind::kGraphLaunch, false);
  EXPECT_EQ(tally.tally().kernels, 4);
  EXPECT_EQ(tally.tally().kernels_lost, 2);
  EXPECT_EQ(tally.tally().longest_loss, 2);
  EXPECT_EQ(tally.tally().graphs, 0);
  tally.Add(CallKind::kMemcpy, true);
  EXPECT_EQ(tally.tally().kernels_lost, 3);
  EXPECT_EQ(tally.tally().graphs_lost, 1);
}

TEST(RepeatedRecords, OnlyTheSameThingTwice) {
  TraceBuilder builder;
  builder.Op("a", 10, 5, 0, 1);
  builder.Op("a", 10, 5, 0, 1);  // again
  builder.Op("a", 10, 5, 1, 1);  // another lane
  builder.Op("b", 20, 5, 0, 2);
  builder.Op("b", 20, 5, 0, 3);  // another correlation
  builder.Op("b", 30, 0, 0, 4);
  builder.Op("b", 30, 0, 0, 4);  // of no length
  builder.Mark("m", 10, 50);
  builder.Mark("n", 10, 50);
  builder.Mark("m", 10, 50);  // again, behind another of its start
  Trace trace = builder.Build();
  trace.op_groups = {{1, 0}, {2, 1}};
  ImportCounters counters;
  DropRepeatedRecords(&trace, &counters);
  EXPECT_EQ(trace.ops.size(), 6U);
  EXPECT_EQ(trace.ops.launch.size(), 6U);
  EXPECT_EQ(trace.annotations.size(), 2U);
  EXPECT_EQ(trace.capture.repeated_ops, 1);
  EXPECT_EQ(counters[Counter::kRepeatedRecord], 2U);
  ASSERT_EQ(trace.op_groups.size(), 1U);
  EXPECT_EQ(trace.op_groups[0].op, 1U);
}

TEST(LostLaunches, KernelsWithoutALaunchMayBeTheirs) {
  TraceBuilder builder;
  builder.Op("k", 10, 5);
  Trace trace = builder.Build();
  trace.capture.launches = {10, 3, 1, 4, 1};
  ASSERT_TRUE(CheckLostLaunches(trace, {}));
  EXPECT_EQ(CheckLostLaunches(trace, {})->count, 2);
  EXPECT_FALSE(CheckLostGraphs(trace));
  trace.capture.launches.graphs_lost = 2;
  EXPECT_EQ(CheckLostGraphs(trace)->count, 2);
  Steps steps;  // a run as long as half a replay was captured
  steps.replays.resize(1);
  steps.replays[0].ops = 2;
  EXPECT_FALSE(CheckLostLaunches(trace, steps));
}

TEST(LostLaunches, KernelsOfBeforeTheWindowAreNotTheirs) {
  TraceBuilder builder;
  for (int i = 0; i < 5; ++i) builder.Op("k", 10 * i, 5);  // queued before
  builder.Eager("k", 1, 60, 5);
  builder.Op("k", 70, 5);  // perhaps the lost launch's
  Trace trace = builder.Build();
  trace.capture.launches = {10, 3, 1, 4, 2};
  EXPECT_EQ(CheckLostLaunches(trace, {})->count, 2);
  EXPECT_EQ(CheckLostGraphs(trace)->count, 2);
}

Step StepAt(int64_t begin_ns, std::optional<int64_t> next_ns) {
  Step step;
  step.begin_ns = begin_ns;
  step.next_begin_ns = next_ns;
  return step;
}

TEST(ProfilerTime, CountsWithinUsedWallsOnly) {
  Trace trace = TraceBuilder().Build();
  Steps steps;
  steps.steps = {StepAt(0, 1000), StepAt(1000, 2000), StepAt(2000, 3000),
                 StepAt(3000, std::nullopt)};
  steps.steps[1].excluded_id = "head-cut";
  trace.profiler = {{-500, 600}, {900, 1200}, {2900, kMost}, {5000, 10}};
  const std::optional<CaptureCheck> check = CheckProfilerTime(trace, steps);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->time_ns, 100 + 100 + 100 + 100);
  EXPECT_EQ(check->of_ns, 2000);
  EXPECT_EQ(check->count, 4);
  EXPECT_EQ(check->weight, Weight::kReservation);
  trace.profiler = {{1000, 1000}, {INT64_MIN, 5}};
  EXPECT_FALSE(CheckProfilerTime(trace, steps));
}

/// Kernels "k0" to "k11" of three categories, `dur(i)` us each.
template <typename Duration>
std::optional<CaptureCheck> FloorOf(const Duration& dur) {
  TraceBuilder builder;
  for (int i = 0; i < 12; ++i) {
    const char* kind = i % 3 == 0 ? "k" : i % 3 == 1 ? "nccl" : "sample";
    builder.Op(Numbered(kind, i), 100 * i, dur(i));
  }
  const Trace trace = builder.Build();
  return CheckFloor(trace, ClassesByWord(trace));
}

TEST(Floor, HalfOfTheNamesInATenth) {
  const auto half = FloorOf([](int i) { return i < 6 ? 20 + i % 2 : 50; });
  ASSERT_TRUE(half);
  EXPECT_EQ(half->count, 6);
  EXPECT_EQ(half->of, 12);
  EXPECT_EQ(half->time_ns, 20'000);
  EXPECT_FALSE(FloorOf([](int i) { return i < 5 ? 20 : 50 + 10 * i; }));
  // Stamps of whole microseconds: 9 is anything from 9 to 10.
  EXPECT_FALSE(FloorOf([](int) { return 9; }));
  EXPECT_FALSE(FloorOf([](int i) { return 10 + 3 * i; }));
}

TEST(BackToBack, NineInTen) {
  for (const int apart : {0, 1}) {
    TraceBuilder builder;
    std::vector<TraceBuilder::GraphOp> graph;
    for (int i = 0; i < 120; ++i)
      graph.push_back({"k", i * (10 + apart), 10, 0});
    builder.Replay(graph, 0, 100);
    const Trace trace = builder.Build();
    const Steps steps = FindSteps(trace, ClassesByWord(trace));
    // A microsecond is no nanosecond.
    EXPECT_EQ(CheckBackToBack(trace, steps).has_value(), apart == 0);
  }
}

TEST(Burst, NotWhereTheGpuWasBusyBefore) {
  for (const bool busy : {false, true}) {
    TraceBuilder builder;
    std::vector<TraceBuilder::GraphOp> graph;
    for (int i = 0; i < 20; ++i) graph.push_back({"k", i * 10, 10, 0});
    builder.Eager("k", 0, 5, busy ? 9000 : 10);
    for (int i = 0; i < 3; ++i) {
      builder.Mark("step[DECODE bs=4]", 1000 * i, 900);
      builder.Replay(graph, 1000 * i + 50, 10'000 + 300 * i);
    }
    const Trace trace = builder.Build();
    const Steps steps = FindSteps(trace, ClassesByWord(trace));
    const std::optional<CaptureCheck> check = CheckBurst(trace, steps);
    EXPECT_EQ(check.has_value(), !busy);
    EXPECT_EQ(check ? check->count : 60, 60);
  }
}

TEST(Burst, WithoutMarkersWhereTheHostWaitedBetweenLaunches) {
  const std::vector<TraceBuilder::GraphOp> graph(20, {"k", 0, 10, 0});
  for (const int launches : {3, 4}) {
    for (const int unwaited : {-1, 1}) {
      TraceBuilder builder;
      for (int i = 0; i < launches; ++i) {
        builder.Replay(graph, 1000 * i, 10'000 + 300 * i);
        if (i != unwaited) builder.Sync(1000 * i + 500);
      }
      const Trace trace = builder.Build();
      const Steps steps = FindSteps(trace, ClassesByWord(trace));
      EXPECT_EQ(CheckBurst(trace, steps).has_value(),
                launches == 4 && unwaited < 0);
    }
  }
}

TEST(Burst, OfKernelsWithoutCorrelation) {
  for (const bool eager_ran : {false, true}) {
    TraceBuilder builder;
    for (int i = 0; i < 3; ++i) {
      builder.Mark("step[DECODE bs=4]", 1000 * i, 900);
      builder.Eager("k", 1000 * i + 5, 1000 * i + (eager_ran ? 20 : 20'000),
                    10);
      for (int k = 0; k < 20; ++k)
        builder.Op("k", 10'000 + 300 * i + 10 * k, 9);
    }
    const Trace trace = builder.Build();
    const Steps steps = FindSteps(trace, ClassesByWord(trace));
    ASSERT_TRUE(steps.replays.empty());
    const std::optional<CaptureCheck> check = CheckBurst(trace, steps);
    // A GPU that has run nothing yet may just be late.
    EXPECT_EQ(check.has_value(), eager_ran);
    EXPECT_EQ(check ? check->count : 60, 60);
  }
}

TEST(BackToBack, NineInTenAndNoFewer) {
  for (const int apart : {3, 4}) {  // of 37: 92 and 89 %
    TraceBuilder builder;
    std::vector<TraceBuilder::GraphOp> graph;
    for (int i = 0, at = 0; i <= 37; ++i) {
      at += i > 0 && i <= apart ? 12 : 10;
      graph.push_back({"k", at, 10, 0});
    }
    for (int i = 0; i < 3; ++i) builder.Replay(graph, 5000 * i, 5000 * i + 10);
    const Trace trace = builder.Build();
    const Steps steps = FindSteps(trace, ClassesByWord(trace));
    EXPECT_EQ(CheckBackToBack(trace, steps).has_value(), apart == 3);
  }
}

}  // namespace
}  // namespace inferdiff
