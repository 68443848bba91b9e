// SPDX-License-Identifier: Apache-2.0
#include "compare/timeline.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compare_fixture.h"
#include "ledger/step_layers.h"

namespace inferdiff {
namespace {

/// Four layers of norm, attention and GEMM, and a copy on another lane.
LedgerResult SmallLedger() {
  FakeLedger fake(1);
  fake.Kernel("norm", Category::kNorm, 4, 40)
      .Kernel("attention", Category::kAttention, 4, 80)
      .Kernel("gemm", Category::kDenseGemm, 8, 140)
      .Kernel("copy", Category::kMemcpy, 1, 5)
      .Walls(0, 0, 0);
  for (const int64_t at : {0, 100, 200, 300}) {
    const uint32_t replay = at < 200 ? 0 : 1;
    fake.Op(0, at, 10, replay).Op(2, at + 10, 5, replay);
    fake.Op(1, at + 15, 20, replay).Op(2, at + 40, 30, replay);
  }
  fake.Op(3, -20, 5, kNone);
  LedgerResult ledger = fake.get();
  std::rotate(ledger.sequence.begin(), ledger.sequence.end() - 1,
              ledger.sequence.end());
  for (size_t i = 0; i < ledger.sequence.size(); ++i)
    ledger.sequence[i].ordinal = 100 + i;
  ledger.sequence[0].lane = 7;
  ledger.sequence[4].lane = 2;
  ledger.step_amounts.push_back({});
  ledger.step_amounts[0].wall = 400;
  FillLayers(&ledger);
  return ledger;
}

/// "lane 0: norm 0+10 ...", a line a lane.
std::string TextOf(const SideTimeline& side, const LedgerResult& ledger) {
  std::string text;
  for (const TimelineLane& lane : side.lanes) {
    text += fmt::format("lane {}:", lane.lane);
    for (uint32_t i = lane.begin; i < lane.end; ++i) {
      const TimelineOp& op = side.ops[i];
      text += fmt::format(" {} {}+{}", ledger.kernels[op.kernel].family,
                          op.start_ns, op.dur_ns);
    }
    text += '\n';
  }
  return text;
}

TEST(Timeline, LanesHoldEveryOpInOrderOfStart) {
  const LedgerResult ledger = SmallLedger();
  const SideTimeline side = TimelineOf(ledger);
  EXPECT_EQ(
      TextOf(side, ledger),
      "lane 0: norm 0+10 gemm 10+5 attention 15+20 norm 100+10 gemm 110+5 "
      "attention 115+20 gemm 140+30 norm 200+10 gemm 210+5 attention 215+20 "
      "gemm 240+30 norm 300+10 gemm 310+5 attention 315+20 gemm 340+30\n"
      "lane 2: gemm 40+30\n"
      "lane 7: copy -20+5\n");
  EXPECT_EQ(side.absent, "");
  EXPECT_EQ(side.rank, "");
  EXPECT_EQ(side.wall_ns, 400);
}

TEST(Timeline, SpansCoverLayersAndReplays) {
  const SideTimeline side = TimelineOf(SmallLedger());
  ASSERT_EQ(side.layers.size(), 4U);
  EXPECT_EQ(side.layers[0].begin_ns, 0);
  EXPECT_EQ(side.layers[0].end_ns, 70);
  EXPECT_EQ(side.layers[1].ops, 4U);
  ASSERT_EQ(side.replays.size(), 2U);
  EXPECT_EQ(side.replays[0].end_ns, 170);
  EXPECT_EQ(side.replays[1].begin_ns, 200);
  EXPECT_EQ(side.replays[1].end_ns, 370);
  EXPECT_EQ(side.replays[1].ops, 8U);
}

TEST(Timeline, OneSideHasNoCounterparts) {
  for (const TimelineOp& op : TimelineOf(SmallLedger()).ops)
    EXPECT_EQ(op.group, kNone);
}

// An op's group must be the one that holds it, whatever the order.
TEST(Timeline, GroupsAreThoseOfTheAlignment) {
  const CompareResult result =
      Compare(SmallLedger(), {}, SmallLedger(), {}, {});
  const Timeline timeline = TimelineOf(result);
  size_t alike = 0;
  for (const TimelineOp& op : timeline.a.ops) {
    ASSERT_LT(op.group, result.alignment.groups.size());
    const AlignedGroup& group = result.alignment.groups[op.group];
    EXPECT_EQ(group.role, op.role);
    EXPECT_EQ(group.layer_a, op.layer);
    for (const TimelineOp& other : timeline.b.ops) {
      if (other.group != op.group) continue;
      ++alike;
      EXPECT_EQ(other.ordinal, op.ordinal);
    }
  }
  EXPECT_EQ(alike, timeline.a.ops.size());
}

TEST(Timeline, SaysWhyNothingIsDrawn) {
  FakeLedger empty(0);
  EXPECT_EQ(TimelineOf(empty.get()).absent, "No step is left to draw.");
  FakeLedger table(1);
  EXPECT_NE(TimelineOf(table.get()).absent, "");
  EXPECT_TRUE(TimelineOf(table.get()).ops.empty());
}

TEST(Timeline, WaitingIsAPartOfItsCollective) {
  LedgerResult ledger = SmallLedger();
  ledger.sequence[1].wait_attributed_ns = 3;
  ledger.sequence[1].wait_cross_lane_ns = 2;
  const SideTimeline side = TimelineOf(ledger);
  EXPECT_EQ(side.ops[0].wait_ns, 5);
}

}  // namespace
}  // namespace inferdiff
