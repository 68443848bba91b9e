// SPDX-License-Identifier: Apache-2.0
// Graph replays: what belongs together, what is equal.
#include "steps/replays.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace inferdiff {
namespace {

using Graph = std::vector<TraceBuilder::GraphOp>;

TEST(Replays, OpsOfOneGraphLaunchAreOneReplay) {
  TraceBuilder b;
  b.Eager("copy", 0, 5, 2);
  b.Replay({{"a", 0, 10}, {"b", 10, 30, 1}, {"c", 12, 5}}, 1, 20);
  const Replays r = FindReplays(b.Build());
  ASSERT_EQ(r.list.size(), 1U);
  EXPECT_EQ(r.of_op, (std::vector<uint32_t>{kNone, 0, 0, 0}));
  EXPECT_EQ(r.list[0].ops, 3U);
  EXPECT_EQ(r.list[0].begin_ns, 20000);
  EXPECT_EQ(r.list[0].end_ns, 60000);
  EXPECT_EQ(r.list[0].main_lane, 1U);  // 30 us busy against 15
  EXPECT_EQ(r.list[0].launch, 1U);
}

TEST(Replays, OfOneGraphAreEqualOnOtherLanesInAnotherOrder) {
  TraceBuilder b;
  // The branch starts before "b" once and after it the next time.
  b.Replay({{"a", 0, 10}, {"b", 10, 30}, {"side", 9, 5, 1}}, 1, 100, 0);
  b.Replay({{"a", 0, 10}, {"b", 10, 30}, {"side", 11, 5, 1}}, 2, 200, 5);
  const Trace trace = b.Build();
  const Replays r = FindReplays(trace);
  ASSERT_EQ(r.list.size(), 2U);
  EXPECT_EQ(r.list[0].signature, r.list[1].signature);
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    const bool side = (*trace.names)[trace.ops.name[i]] == "side";
    EXPECT_EQ(r.normal_lane[i], side ? 1U : 0U);
  }
}

TEST(Replays, OtherKernelsOrCountsAreAnotherGraph) {
  TraceBuilder b;
  b.Replay({{"a", 0, 1}, {"b", 1, 1}}, 1, 100);
  b.Replay({{"a", 0, 1}, {"a", 1, 1}}, 2, 200);
  b.Replay({{"a", 0, 1}, {"b", 1, 1}, {"b", 2, 1}}, 3, 300);
  const Replays r = FindReplays(b.Build());
  EXPECT_NE(r.list[0].signature, r.list[1].signature);
  EXPECT_NE(r.list[0].signature, r.list[2].signature);
}

TEST(Replays, ManyOpsUnderOneIdWithoutALaunchAreAReplay) {
  TraceBuilder b;
  Graph big, small;
  for (int i = 0; i < 20; ++i) big.push_back({"k", 2 * i, 1});
  for (int i = 0; i < 3; ++i) small.push_back({"k", 2 * i, 1});
  b.Replay(big, -1, 0);
  b.Replay(small, -1, 100);  // a copy that three engines did
  const Replays r = FindReplays(b.Build());
  ASSERT_EQ(r.list.size(), 1U);
  EXPECT_EQ(r.list[0].ops, 20U);
  EXPECT_EQ(r.list[0].launch, kNone);
}

TEST(Replays, ManyOpsOfAKernelLaunchAreEager) {
  TraceBuilder b;
  b.Launch(CallKind::kKernelLaunch, 0, 77);
  for (int i = 0; i < 20; ++i) b.Op("k", 10 + i, 1, 0, 77);
  EXPECT_TRUE(FindReplays(b.Build()).list.empty());
}

TEST(Replays, WithoutACorrelationNothingIsAReplay) {
  TraceBuilder b;
  for (int i = 0; i < 20; ++i) b.Op("k", 10 + i, 1);
  EXPECT_TRUE(FindReplays(b.Build()).list.empty());
}

TEST(Replays, OneThatLacksOpsTakesItsGraphsSignature) {
  Graph whole, cut;
  for (int i = 0; i < 40; ++i) {
    whole.push_back({Numbered("k", i % 7), 2 * i, 1});
    if (i != 13 && i != 14) cut.push_back(whole.back());
  }
  TraceBuilder b;
  for (int i = 0; i < 6; ++i) b.Replay(i == 3 ? cut : whole, i, 100 * i);
  const Replays r = FindReplays(b.Build());
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(r.list[i].signature, r.list[0].signature) << i;
    EXPECT_EQ(r.list[i].missing_ops, i == 3 ? 2U : 0U) << i;
  }
}

TEST(Replays, ASmallerGraphIsNoDamagedLargeOne) {
  Graph verify, draft;
  for (int i = 0; i < 40; ++i) verify.push_back({"k", 2 * i, 1});
  for (int i = 0; i < 4; ++i) draft.push_back({"k", 2 * i, 1});
  TraceBuilder b;
  for (int i = 0; i < 6; ++i) b.Replay(verify, 2 * i, 200 * i);
  b.Replay(draft, 100, 5000);
  const Replays r = FindReplays(b.Build());
  EXPECT_EQ(r.list.back().missing_ops, 0U);
  EXPECT_NE(r.list.back().signature, r.list[0].signature);
}

/// Forty kernels of 8 us, 10 us apart; of them those from `first` to `last`
/// only, and of these each `nth`.
Graph Part(int first, int last, int nth = 1) {
  Graph graph;
  for (int i = first; i < last; i += nth)
    graph.push_back({Numbered("k", i % 7), 10 * i, 8});
  return graph;
}

/// Missing ops of `part` as the fourth of six replays, each launched when the
/// one before has ended, which is after `wall_us`.
uint32_t MissingIn(const Graph& part, int64_t wall_us = 420) {
  TraceBuilder b;
  int64_t at = 0;
  for (int i = 0; i < 6; ++i) {
    b.Replay(i == 3 ? part : Part(0, 40), at, at + 5);
    at += i == 3 ? wall_us : 420;
  }
  return FindReplays(b.Build()).list[3].missing_ops;
}

TEST(Replays, OneThatLacksMostOfItsOpsHasRoomForThem) {
  EXPECT_EQ(MissingIn(Part(0, 40, 3)), 26U);  // here and there
  EXPECT_EQ(MissingIn(Part(0, 12)), 28U);     // the end
  EXPECT_EQ(MissingIn(Part(28, 40)), 28U);    // the beginning
  // Twelve kernels in a row, and the next replay follows at once.
  EXPECT_EQ(MissingIn(Part(0, 12), 130), 0U);
}

TEST(Replays, WhereHardlyOneIsWhole) {
  TraceBuilder b;
  for (int i = 0; i < 6; ++i) {
    Graph graph = Part(0, 40);
    for (int k = 0; k < i; ++k) graph.erase(graph.begin() + 5 * k + i);
    b.Replay(graph, 500 * i, 500 * i + 5);
  }
  const Replays r = FindReplays(b.Build());
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(r.list[i].missing_ops, i);
    EXPECT_EQ(r.list[i].signature, r.list[0].signature);
  }
}

TEST(Replays, BusyTimeOfALaneIsAUnion) {
  TraceBuilder b;
  // Lane 0: two ops that overlap, 12 us busy, 20 us in sum. Lane 1: 15 us.
  b.Replay({{"a", 0, 10}, {"b", 2, 10}, {"c", 1, 15, 1}}, 1, 0);
  EXPECT_EQ(FindReplays(b.Build()).list[0].main_lane, 1U);
}

}  // namespace
}  // namespace inferdiff
