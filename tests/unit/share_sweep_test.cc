// SPDX-License-Identifier: Apache-2.0
// Small steps whose shares can be worked out by hand.
#include "ledger/share_sweep.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "base/error.h"
#include "ledger/idle_scan.h"
#include "ledger/ledger.h"

namespace inferdiff {
namespace {

/// A trace with one step in [0, 100) unless told otherwise.
struct Small {
  Small() {
    trace.names = names;
    trace.lanes.resize(4);
    Step step;
    step.next_begin_ns = 100;
    steps.steps.push_back(step);
  }

  /// Ops must come in order of (start, end).
  void Op(int64_t start, int64_t end, uint32_t lane, const char* name = "k",
          OpKind kind = OpKind::kKernel, uint32_t step = 0) {
    GpuOps& ops = trace.ops;
    ops.ordinal.push_back(ops.size());
    ops.start_ns.push_back(start);
    ops.dur_ns.push_back(end - start);
    ops.correlation.push_back(0);
    ops.name.push_back(names->Intern(name));
    ops.lane.push_back(lane);
    ops.launch.push_back(kNone);
    ops.kind.push_back(kind);
    steps.step_of_op.push_back(step);
    steps.replay_of_op.push_back(kNone);
    steps.normal_lane.push_back(lane);
  }

  std::vector<int64_t> Attributed() {
    return AmountsPerOp(trace, steps).attributed_ns;
  }
  std::vector<int64_t> SameLane() {
    return AmountsPerOp(trace, steps).hidden_same_lane_ns;
  }
  std::vector<int64_t> CrossLane() {
    return AmountsPerOp(trace, steps).hidden_cross_lane_ns;
  }
  IdleAmounts Idle(uint32_t step = 0) {
    const StepOps index(trace, steps,
                        std::vector<bool>(steps.steps.size(), true));
    return IdleScan(index).Run(step);
  }

  std::shared_ptr<StringPool> names = std::make_shared<StringPool>();
  Trace trace;
  Steps steps;
};

using Column = std::vector<int64_t>;

TEST(ShareSweep, EarliestKeepsItsLane) {
  Small small;
  small.Op(0, 60, 0);
  small.Op(40, 70, 0);  // launched early, waits until 60
  small.Op(45, 50, 0);  // over before its turn comes
  EXPECT_EQ(small.Attributed(), (Column{60, 10, 0}));
  EXPECT_EQ(small.SameLane(), (Column{0, 20, 5}));
  EXPECT_EQ(small.CrossLane(), (Column{0, 0, 0}));
}

TEST(ShareSweep, LanesShareEquallyAndTheFirstGetsTheOddNanosecond) {
  Small small;
  small.Op(0, 11, 1);
  small.Op(0, 11, 0);
  small.Op(0, 11, 2);
  EXPECT_EQ(small.Attributed(), (Column{4, 4, 3}));
  EXPECT_EQ(small.CrossLane(), (Column{7, 7, 8}));
}

TEST(ShareSweep, AZeroDurationOpCutsASegment) {
  Small small;
  small.Op(0, 6, 0);
  small.Op(0, 6, 1);
  EXPECT_EQ(small.Attributed(), (Column{3, 3}));
  Small cut;
  cut.Op(0, 6, 0);
  cut.Op(0, 6, 1);
  cut.Op(3, 3, 2);  // two segments of 3 ns: the first op gets 2 of each
  EXPECT_EQ(cut.Attributed(), (Column{4, 2, 0}));
}

TEST(ShareSweep, CopiesYieldToKernels) {
  Small small;
  small.Op(0, 50, 0, "copy", OpKind::kMemcpy);
  small.Op(10, 20, 0);
  small.Op(15, 30, 1);
  // Its own lane's kernel hides [10, 20), the other lane's [20, 30).
  EXPECT_EQ(small.Attributed(), (Column{30, 8, 12}));
  EXPECT_EQ(small.SameLane(), (Column{10, 0, 0}));
  EXPECT_EQ(small.CrossLane(), (Column{10, 2, 3}));
}

TEST(ShareSweep, CopiesOfOneLaneQueueUpForWhatKernelsLeave) {
  Small small;
  small.Op(0, 20, 0, "first", OpKind::kMemcpy);
  small.Op(5, 15, 1);
  small.Op(10, 30, 0, "second", OpKind::kMemset);
  EXPECT_EQ(small.Attributed(), (Column{10, 10, 10}));
  EXPECT_EQ(small.SameLane(), (Column{0, 0, 5}));
  EXPECT_EQ(small.CrossLane(), (Column{10, 0, 5}));
}

TEST(ShareSweep, TimesAreClippedAtTheBorders) {
  Small small;
  small.Op(-460, -450, 1);  // the schedule stream may open early
  small.Op(-5, 10, 1);
  small.Op(90, 120, 0);
  small.Op(150, 160, 1);
  EXPECT_EQ(small.Attributed(), (Column{0, 10, 10, 0}));
}

TEST(ShareSweep, TiesOnOneLaneGoByNameNotByNormalisedLane) {
  Small small;
  small.Op(0, 10, 0, "b");
  small.Op(0, 10, 0, "a");
  small.steps.normal_lane = {0, 1};  // eager op and replay on one stream
  EXPECT_EQ(small.Attributed(), (Column{0, 10}));
}

TEST(ShareSweep, LanesAreCleanForTheNextStep) {
  Small small;
  small.Op(0, 500, 0);
  small.Op(100, 110, 0, "k", OpKind::kKernel, 1);
  Step second;
  second.begin_ns = 100;
  small.steps.steps.push_back(second);
  EXPECT_EQ(small.Attributed(), (Column{100, 10}));
}

// 100,000 ops on as many lanes, all at once: must not take n * m work.
TEST(ShareSweep, ACrowdOfLanesIsNotQuadratic) {
  constexpr uint32_t kOps = 100000;
  Small small;
  small.trace.lanes.resize(kOps);
  small.steps.steps[0].next_begin_ns.reset();
  for (uint32_t i = 0; i < kOps; ++i) small.Op(i, 2 * kOps + i, i);
  const Column attributed = small.Attributed();
  int64_t total = 0;
  for (const int64_t share : attributed) total += share;
  EXPECT_EQ(total, 3 * kOps - 1);
}

TEST(IdleScan, ForeignAndIdleFillTheWall) {
  Small small;
  small.Op(0, 10, 0);
  small.Op(20, 40, 1, "k", OpKind::kKernel, kNone);
  small.Op(30, 50, 0);
  const IdleAmounts idle = small.Idle();
  EXPECT_EQ(idle.busy, 30);
  EXPECT_EQ(idle.foreign, 10);
  EXPECT_EQ(idle.idle, 60);
}

TEST(IdleScan, AnOpFromLongAgoIsForeign) {
  Small small;
  small.Op(-1000, 70, 1, "k", OpKind::kKernel, kNone);
  small.Op(0, 10, 0);
  EXPECT_EQ(small.Idle().foreign, 60);
  EXPECT_EQ(small.Idle().idle, 30);
}

TEST(IdleScan, IdleTimeBelongsToTheNextLaunch) {
  Small small;
  small.Op(0, 10, 0);
  small.Op(30, 40, 0);
  small.Op(60, 60, 0);  // no time, but it ends the wait for its launch
  small.Op(100, 110, 0, "k", OpKind::kKernel, 1);
  Step second;
  second.begin_ns = 100;
  small.steps.steps.push_back(second);
  small.trace.calls.start_ns = {25, 70};
  small.trace.ops.launch = {kNone, 0, kNone, 1};
  const IdleAmounts idle = small.Idle();
  EXPECT_EQ(idle.idle, 80);
  EXPECT_EQ(idle.rest.host_late, (25 - 10) + (70 - 60));
  EXPECT_EQ(idle.rest.queued, (30 - 25) + (100 - 70));
  EXPECT_EQ(idle.rest.unknown, 60 - 40);
}

TEST(IdleScan, GapsInsideAReplayAreTheGraphs) {
  Small small;
  small.Op(0, 10, 0);
  small.Op(20, 30, 0);
  small.Op(40, 50, 0);
  Replay replay;
  replay.begin_ns = 5;
  replay.end_ns = 35;
  replay.ops = 2;
  replay.step = 0;
  small.steps.replays.push_back(replay);
  const IdleAmounts idle = small.Idle();
  EXPECT_EQ(idle.idle, 70);
  EXPECT_EQ(idle.idle_inside, 10 + 5);
}

/// Where a step has replays, idle time lies between two of them, waits for a
/// replay, or is the tail's.
TEST(IdleScan, TheTailIsWhatWaitsForLaunchesAroundTheReplays) {
  Small small;
  const auto replayed = [&](int64_t start, int64_t end, uint32_t replay) {
    small.Op(start, end, 0);
    small.steps.replay_of_op.back() = replay;
  };
  small.Op(0, 5, 0);      // in front of the first replay
  small.Op(8, 10, 0);     // the tail, too: 3
  replayed(14, 20, 0);    // rest: 4
  small.Op(22, 24, 0);    // between: 2
  replayed(30, 40, 1);    // between: 6
  small.Op(45, 50, 0);    // tail: 5, 2 of them late
  small.Op(60, 65, 0);    // tail: 10 in the queue
  replayed(100, 110, 2);  // the next step: rest, 35
  small.steps.step_of_op.back() = 1;
  Step second;
  second.begin_ns = 100;
  small.steps.steps.push_back(second);
  for (uint32_t i = 0; i < 3; ++i) {
    Replay replay;
    replay.begin_ns = std::array{14, 30, 100}[i];
    replay.end_ns = std::array{20, 40, 110}[i];
    replay.ops = 1;
    replay.step = i / 2;
    small.steps.replays.push_back(replay);
  }
  small.trace.calls.start_ns = {42, 44, 70};
  std::vector<uint32_t>& launch = small.trace.ops.launch;
  launch[5] = 0;
  launch[6] = 1;
  launch[7] = 2;
  const IdleAmounts idle = small.Idle();
  EXPECT_EQ(idle.idle_inside, 0);
  EXPECT_EQ(idle.between, (LaunchCauses{0, 0, 2 + 6}));
  EXPECT_EQ(idle.tail, (LaunchCauses{2, 3 + 10, 3}));
  EXPECT_EQ(idle.rest, (LaunchCauses{5, 30, 4}));
  EXPECT_EQ(idle.idle, 8 + 18 + 39);
}

TEST(TotalsOfDevice, AbsurdTimesAreRefused) {
  Small small;
  small.Op(9000000000000000000, 9000000000000000010, 0);
  small.trace.ops.dur_ns[0] = 9000000000000000000;
  EXPECT_THROW(TotalsOfDevice(small.trace), InputError);
  EXPECT_THROW(AmountsPerOp(small.trace, small.steps), InputError);
}

}  // namespace
}  // namespace inferdiff
