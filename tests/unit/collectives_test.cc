// SPDX-License-Identifier: Apache-2.0
// Small steps whose waits can be worked out by hand, and large random ones
// whose sums must hold.
#include "ledger/collectives.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {
namespace {

constexpr size_t kComm = static_cast<size_t>(Category::kCommunication);

/// Steps of 1000 ns each. "nccl..." is communication, the rest dense GEMM.
struct Steps1000 {
  explicit Steps1000(int64_t count) {
    trace.names = names;
    trace.lanes.resize(64);
    for (int64_t i = 0; i < count; ++i) {
      steps.steps.emplace_back();
      steps.steps.back().begin_ns = i * 1000;
      steps.steps.back().next_begin_ns = (i + 1) * 1000;
    }
    steps.groups.resize(1);
  }

  /// Ops must come in order of (start, end).
  void Op(int64_t start, int64_t end, uint32_t lane, const std::string& name) {
    GpuOps& ops = trace.ops;
    const NameId id = names->Intern(name);
    const Category category = name.starts_with("nccl")
                                  ? Category::kCommunication
                                  : Category::kDenseGemm;
    if (id == classes.names.size())
      classes.names.push_back({category, 0, name, name});
    ops.ordinal.push_back(ops.size());
    ops.start_ns.push_back(start);
    ops.dur_ns.push_back(end - start);
    ops.correlation.push_back(0);
    ops.name.push_back(id);
    ops.lane.push_back(lane);
    ops.launch.push_back(kNone);
    ops.kind.push_back(OpKind::kKernel);
    const auto step = static_cast<uint32_t>(std::max<int64_t>(start, 0) / 1000);
    steps.step_of_op.push_back(step);
    steps.replay_of_op.push_back(kNone);
    steps.normal_lane.push_back(lane);
    classes.of_op.push_back(category);
    classes.rule_of_op.push_back(0);
  }

  LedgerResult Ledger(unsigned threads = 1) {
    LedgerOptions options;
    options.threads = threads;
    return BuildLedger(trace, classes, RuleSet::Load(), steps, options);
  }

  std::shared_ptr<StringPool> names = std::make_shared<StringPool>();
  Trace trace;
  Classification classes;
  Steps steps;
};

void ExpectAmounts(const Amounts& amounts, int64_t attributed,
                   int64_t same_lane, int64_t cross_lane, int64_t exclusive) {
  EXPECT_EQ(amounts.attributed_ns, attributed);
  EXPECT_EQ(amounts.hidden_same_lane_ns, same_lane);
  EXPECT_EQ(amounts.hidden_cross_lane_ns, cross_lane);
  EXPECT_EQ(amounts.exclusive_ns, exclusive);
}

/// A call that shares with a GEMM twice:
///   lane 0  [0 gemm 20)      [30 gemm 40)
///   lane 1      [10 nccl ..............50)
Steps1000 Shared() {
  Steps1000 small(1);
  small.Op(0, 20, 0, "gemm");
  small.Op(10, 50, 1, "nccl");
  small.Op(30, 40, 0, "gemm");
  return small;
}

TEST(Collectives, ACallHasASegmentForEachWayToShare) {
  const LedgerResult ledger = Shared().Ledger();
  ASSERT_EQ(ledger.collectives.calls.size(), 1);
  const CollectiveCall& call = ledger.collectives.calls[0];
  EXPECT_EQ(ledger.collectives.names[call.name], "nccl");
  EXPECT_EQ(call.clipped_start_ns, 10);
  ASSERT_EQ(call.segments, 4);
  const int64_t attributed[] = {5, 10, 5, 10};
  for (size_t i = 0; i < 4; ++i) {
    const CallSegment& segment = ledger.collectives.segments[i];
    EXPECT_EQ(segment.length_ns(), 10);
    EXPECT_EQ(segment.attributed_ns, attributed[i]);
    EXPECT_EQ(segment.sole, i % 2 == 0 ? Sole::kNo : Sole::kKernel);
  }
}

TEST(MoveRankWait, CutsASharedSegmentInProportion) {
  LedgerResult ledger = Shared().Ledger();
  const RankWait wait{0, 25};
  MoveRankWait({&wait, 1}, &ledger);
  // 5 of 10, all of 10, and 5/10 of 5 rounded down.
  ExpectAmounts(ledger.rank_wait, 17, 0, 8, 10);
  EXPECT_EQ(ledger.rank_wait.count, 1);
  ExpectAmounts(ledger.categories[kComm], 13, 0, 2, 10);
  EXPECT_EQ(ledger.categories[kComm].count, 1);
  EXPECT_EQ(ledger.kernels[1].name, "nccl");
  EXPECT_EQ(ledger.kernels[1].rank_wait_ns, 25);
  EXPECT_EQ(ledger.step_amounts[0].rank_wait, 25);
  const SequenceOp& op = ledger.sequence[1];
  EXPECT_EQ(op.attributed_ns, 13);
  EXPECT_EQ(op.wait_attributed_ns, 17);
  EXPECT_EQ(op.wait_cross_lane_ns, 8);
}

TEST(MoveRankWait, RowsStayInOrderAndSequenceFollows) {
  Steps1000 small(1);
  small.Op(0, 30, 0, "gemm");
  small.Op(30, 100, 0, "nccl");
  LedgerResult ledger = small.Ledger();
  EXPECT_EQ(ledger.kernels[0].name, "nccl");
  const RankWait wait{0, 60};
  MoveRankWait({&wait, 1}, &ledger);
  EXPECT_EQ(ledger.kernels[0].name, "gemm");
  EXPECT_EQ(ledger.families[1].family, "nccl");
  EXPECT_EQ(ledger.sequence[1].kernel, 1);
  EXPECT_EQ(ledger.collectives.calls[0].kernel, 1);
}

TEST(MoveRankWait, WhatWaitsBeforeTheWindowIsNotTheSteps) {
  Steps1000 small(1);
  small.Op(-40, 30, 1, "nccl");
  small.Op(0, 10, 0, "gemm");
  LedgerResult ledger = small.Ledger();
  const RankWait wait{0, 50};
  MoveRankWait({&wait, 1}, &ledger);
  ExpectAmounts(ledger.rank_wait, 5, 0, 5, 0);
}

TEST(MoveRankWait, AnEarlyStartIsHiddenOnItsLane) {
  Steps1000 small(1);
  small.Op(0, 50, 0, "gemm");
  small.Op(20, 80, 0, "nccl");
  LedgerResult ledger = small.Ledger();
  const RankWait wait{0, 40};
  MoveRankWait({&wait, 1}, &ledger);
  ExpectAmounts(ledger.rank_wait, 10, 30, 0, 10);
}

TEST(MoveRankWait, CallsThatWaitTogetherAreAloneTogether) {
  Steps1000 small(1);
  small.Op(0, 100, 0, "nccl_a");
  small.Op(0, 100, 1, "nccl_b");
  LedgerResult ledger = small.Ledger();
  EXPECT_EQ(ledger.categories[kComm].exclusive_ns, 100);
  const RankWait waits[] = {{0, 60}, {1, 60}};
  MoveRankWait(waits, &ledger);
  ExpectAmounts(ledger.rank_wait, 60, 0, 60, 60);
  ExpectAmounts(ledger.categories[kComm], 40, 0, 40, 40);
}

TEST(WaitsOfOneRank, NeedsFourStepsWithTheCall) {
  for (const int64_t count : {3, 4}) {
    Steps1000 small(count);
    for (int64_t i = 0; i < count; ++i) {
      small.Op(i * 1000, i * 1000 + 10, 0, "gemm");
      small.Op(i * 1000 + 10, i * 1000 + 50 + i * 100, 0, "nccl");
    }
    LedgerResult ledger = small.Ledger();
    BoundRankWait(&ledger);
    EXPECT_EQ(ledger.wait_basis,
              count == 4 ? WaitBasis::kOneRank : WaitBasis::kUnknown);
    EXPECT_EQ(ledger.rank_wait.sum_ns, count == 4 ? 600 : 0);
    EXPECT_EQ(ledger.per_step.rank_wait.max, count == 4 ? 300 : 0);
  }
}

TEST(WaitsOfOneRank, ComparesACallWithItselfOnly) {
  Steps1000 small(4);
  for (int64_t i = 0; i < 4; ++i) {
    small.Op(i * 1000, i * 1000 + 10, 0, "gemm");
    small.Op(i * 1000 + 10, i * 1000 + 20, 1, "nccl");
    small.Op(i * 1000 + 20, i * 1000 + 400, 2, "nccl");
    small.Op(i * 1000 + 500, i * 1000 + 900, 1, "nccl");
  }
  LedgerResult ledger = small.Ledger();
  EXPECT_TRUE(WaitsOfOneRank(ledger).empty());
  BoundRankWait(&ledger);
  EXPECT_EQ(ledger.wait_basis, WaitBasis::kOneRank);
}

TEST(BuildLedger, NothingWaitsWithoutCalls) {
  Steps1000 small(1);
  small.Op(0, 10, 0, "gemm");
  EXPECT_EQ(small.Ledger().wait_basis, WaitBasis::kNoCalls);
}

/// `lanes` lanes full of overlapping kernels of 20 names.
Steps1000 Random(int64_t count, uint32_t lanes, int64_t ops_a_step) {
  Steps1000 large(count);
  std::mt19937 random(lanes);
  for (int64_t step = 0; step < count; ++step) {
    large.Op(step * 1000, step * 1000 + 5, 0, "gemm");
    for (int64_t i = 0; i < ops_a_step; ++i) {
      const int64_t start = step * 1000 + i * 900 / ops_a_step;
      std::string name = random() % 2 == 0 ? "nccl" : "gemm";
      name.append(std::to_string(random() % 20));
      large.Op(start, start + 1 + static_cast<int64_t>(random() % 200),
               static_cast<uint32_t>(random() % lanes), name);
    }
  }
  return large;
}

TEST(Collectives, SegmentsAddUpToWhatTheOpWasGiven) {
  for (const uint32_t lanes : {2U, 40U}) {
    Steps1000 large = Random(40, lanes, 300);
    const OpAmounts given = AmountsPerOp(large.trace, large.steps);
    for (const unsigned threads : {1U, 3U}) {
      const Collectives found = large.Ledger(threads).collectives;
      EXPECT_GT(found.calls.size(), 5000);
      for (const CollectiveCall& call : found.calls) {
        CallSegment all;
        for (uint32_t i = 0; i < call.segments; ++i) {
          const CallSegment& part = found.segments[call.first_segment + i];
          EXPECT_GT(part.length_ns(), 0);
          all.attributed_ns += part.attributed_ns;
          all.hidden_same_lane_ns += part.hidden_same_lane_ns;
          all.hidden_cross_lane_ns += part.hidden_cross_lane_ns;
        }
        const size_t op = call.ordinal;
        ASSERT_EQ(all.attributed_ns, given.attributed_ns[op]);
        ASSERT_EQ(all.hidden_same_lane_ns, given.hidden_same_lane_ns[op]);
        ASSERT_EQ(all.hidden_cross_lane_ns, given.hidden_cross_lane_ns[op]);
      }
    }
  }
}

TEST(MoveRankWait, MovingEverythingLeavesNothing) {
  Steps1000 large = Random(40, 3, 300);
  LedgerResult ledger = large.Ledger();
  const Amounts before = ledger.categories[kComm];
  std::vector<RankWait> waits;
  for (uint32_t i = 0; i < ledger.collectives.calls.size(); ++i) {
    const CollectiveCall& call = ledger.collectives.calls[i];
    waits.push_back({i, call.end_ns - call.start_ns});
  }
  MoveRankWait(waits, &ledger);
  EXPECT_GT(before.exclusive_ns, 0);
  ExpectAmounts(ledger.rank_wait, before.attributed_ns,
                before.hidden_same_lane_ns, before.hidden_cross_lane_ns,
                before.exclusive_ns);
  ExpectAmounts(ledger.categories[kComm], 0, 0, 0, 0);
  for (const KernelRow& row : ledger.kernels)
    if (row.category == Category::kCommunication)
      ExpectAmounts(row.amounts, 0, 0, 0, 0);
}

TEST(MoveRankWait, SumsHoldWhereverACallIsCut) {
  for (const uint32_t lanes : {2U, 3U, 40U}) {
    Steps1000 large = Random(20, lanes, 300);
    LedgerResult ledger = large.Ledger();
    std::mt19937 random(7);
    std::vector<RankWait> waits;
    for (uint32_t i = 0; i < ledger.collectives.calls.size(); ++i)
      waits.push_back({i, static_cast<int64_t>(random() % 100)});
    EXPECT_NO_THROW(MoveRankWait(waits, &ledger));
    EXPECT_GT(ledger.rank_wait.hidden_cross_lane_ns, 0);
  }
}

/// Every start and end changes how 63 calls share.
TEST(Collectives, SegmentsAreBounded) {
  Steps1000 large(1);
  for (uint32_t lane = 1; lane < 64; ++lane)
    large.Op(0, 1'000'000, lane, "nccl");
  for (int64_t i = 0; i < 100'000; ++i) large.Op(i * 8, i * 8 + 4, 0, "gemm");
  large.steps.steps[0].next_begin_ns = 1'000'000;
  large.steps.step_of_op.assign(large.trace.ops.size(), 0);
  LedgerResult ledger = large.Ledger();
  EXPECT_LT(ledger.collectives.segments.size(), 6 * large.trace.ops.size());
  std::vector<RankWait> waits;
  for (uint32_t i = 0; i < 63; ++i) waits.push_back({i, 500'000});
  EXPECT_NO_THROW(MoveRankWait(waits, &ledger));
  EXPECT_EQ(ledger.rank_wait.sum_ns, 63 * 500'000);
}

}  // namespace
}  // namespace inferdiff
