// SPDX-License-Identifier: Apache-2.0
// Times that no GPU can have produced, and those that only look like it.
#include "steps/damage.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "trace_builder.h"

namespace inferdiff {
namespace {

std::vector<Damage> DamageOf(const TraceBuilder& builder) {
  const Trace trace = builder.Build();
  const Classification classes = ClassesByWord(trace);
  const Replays replays = FindReplays(trace);
  return FindDamage({trace, classes, replays});
}

/// `count` kernels of 10 us on lane 0, 20 us apart, each with its launch
/// `lead_us` before it.
void AddKernels(TraceBuilder* builder, int count, int64_t at_us,
                int64_t lead_us = 5) {
  for (int i = 0; i < count; ++i)
    builder->Eager("k", at_us + 20 * i - lead_us, at_us + 20 * i, 10);
}

TEST(Damage, AKernelThatRunsIntoLaterOnesOfItsLane) {
  TraceBuilder builder;
  AddKernels(&builder, 20, 1000);
  builder.Eager("k", 1395, 1400, 5000);
  AddKernels(&builder, 20, 1420);
  const std::vector<Damage> found = DamageOf(builder);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, DamageKind::kImpossibleDuration);
  EXPECT_EQ(found[0].begin_ns, 1'420'000);
  EXPECT_EQ(found[0].end_ns, 6'400'000);
}

TEST(Damage, OnlyBeyondAMillisecondAndTenMedians) {
  TraceBuilder builder;
  AddKernels(&builder, 20, 1000);
  builder.Eager("k", 1395, 1400, 1020);  // 1 ms into the next one: not more
  AddKernels(&builder, 20, 1420);
  EXPECT_TRUE(DamageOf(builder).empty());
  TraceBuilder always_long;
  for (int i = 0; i < 5; ++i) {  // each as long, on a queue of two streams
    always_long.Eager("long", 5000 * i, 5000 * i + 5, 4000);
    always_long.Eager("k", 5000 * i + 50, 5000 * i + 55, 10);
  }
  EXPECT_TRUE(DamageOf(always_long).empty());
}

TEST(Damage, OtherLanesAndCollectivesMayRunOn) {
  TraceBuilder builder;
  AddKernels(&builder, 20, 1000);
  builder.Eager("k", 1395, 1400, 5000, 1);
  builder.Eager("nccl", 1395, 1401, 5000);
  AddKernels(&builder, 20, 1420);
  EXPECT_TRUE(DamageOf(builder).empty());
}

TEST(Damage, ALaneOfManyOverrunsIsNoLane) {
  TraceBuilder builder;
  for (int i = 0; i < 90; ++i) builder.Eager("k", 20 * i, 20 * i + 5, 10);
  for (int i = 0; i < 10; ++i) {
    builder.Eager("k", 3000 * i + 2000, 3000 * i + 2005, 2500);
    builder.Eager("k", 3000 * i + 2020, 3000 * i + 2025, 10);
  }
  EXPECT_TRUE(DamageOf(builder).empty());
}

TEST(Damage, AClockThatJumpsOnOrBack) {
  for (const int64_t jump_us : {20'000, -20'000}) {
    TraceBuilder builder;
    AddKernels(&builder, 12, 100'000);
    for (int i = 0; i < 12; ++i)
      builder.Eager("k", 100'300 + 20 * i, 100'305 + 20 * i + jump_us, 10);
    const std::vector<Damage> found = DamageOf(builder);
    ASSERT_EQ(found.size(), 1U) << jump_us;
    EXPECT_EQ(found[0].kind, DamageKind::kClockJump);
    EXPECT_LT(found[0].begin_ns, found[0].end_ns);
  }
}

TEST(Damage, AHostThatRunsAheadIsNoJump) {
  TraceBuilder ahead;  // launched every 5 us, run every 300
  for (int i = 0; i < 40; ++i)
    ahead.Eager("k", 1000 + 5 * i, 1005 + 300 * i, 290);
  EXPECT_TRUE(DamageOf(ahead).empty());
  TraceBuilder caught_up;  // one stall of 20 ms, then as before
  AddKernels(&caught_up, 20, 1000);
  caught_up.Eager("k", 1400, 21'400, 10);
  AddKernels(&caught_up, 20, 21'500);
  EXPECT_TRUE(DamageOf(caught_up).empty());
  TraceBuilder queued;  // the GPU was busy, not idle, for the 20 ms
  AddKernels(&queued, 12, 1000);
  queued.Eager("long", 1240, 1245, 20'000);
  for (int i = 0; i < 12; ++i)
    queued.Eager("k", 1250 + 20 * i, 21'250 + 20 * i, 10);
  EXPECT_TRUE(DamageOf(queued).empty());
}

/// Eight replays of 8 ms in 20 kernels, 10 ms apart, whose clock jumps by 20 ms
/// at a kernel.
TraceBuilder Jumping(int jump_at) {
  TraceBuilder builder;
  for (int i = 0, nth = 0; i < 8; ++i) {
    std::vector<TraceBuilder::GraphOp> graph;
    int64_t jumped = nth >= jump_at ? 20'000 : 0;
    const int64_t begin = 10'000 * i + 100 + jumped;
    for (int k = 0; k < 20; ++k, ++nth) {
      jumped = nth >= jump_at ? 20'000 : 0;
      graph.push_back({"k", 10'000 * i + 100 + 400 * k + jumped - begin, 390});
    }
    builder.Replay(graph, 10'000 * i, begin);
  }
  return builder;
}

TEST(Damage, AClockThatJumpsAmongAFewReplays) {
  for (const int at : {60, 67, 80, 100}) {
    const std::vector<Damage> found = DamageOf(Jumping(at));
    ASSERT_EQ(found.size(), 1U) << at;
    EXPECT_EQ(found[0].kind, DamageKind::kClockJump);
    EXPECT_GT(found[0].end_ns - found[0].begin_ns, 20'000'000);
    EXPECT_LT(found[0].end_ns - found[0].begin_ns, 23'000'000);
  }
}

TEST(Damage, AHostThatGetsAReplayAheadIsNoJump) {
  const std::vector<TraceBuilder::GraphOp> graph = {{"k", 0, 90},
                                                    {"k", 100, 7800}};
  TraceBuilder builder;
  for (int i = 0; i < 10; ++i) builder.Replay(graph, 8000 * i, 8000 * i + 50);
  for (int i = 10; i < 20; ++i)
    builder.Replay(graph, 8000 * (i - 1), 8000 * i + 50);
  EXPECT_TRUE(DamageOf(builder).empty());
}

std::vector<Damage> JumpsIn(const TraceBuilder& builder) {
  std::vector<Damage> found = DamageOf(builder);
  for (const Damage& one : found) EXPECT_EQ(one.kind, DamageKind::kClockJump);
  return found;
}

/// Three times twelve kernels, with the GPU's clock ahead by so much.
TraceBuilder Ahead(int64_t first_us, int64_t then_us, int64_t last_us) {
  TraceBuilder builder;
  int64_t at = 100'000;
  for (const int64_t ahead : {first_us, then_us, last_us}) {
    for (int i = 0; i < 12; ++i, at += 20)
      builder.Eager("k", at, at + 5 + ahead, 10);
  }
  return builder;
}

TEST(Damage, AClockThatJumpsTwice) {
  EXPECT_EQ(JumpsIn(Ahead(0, 20'000, 45'000)).size(), 2U);
  EXPECT_EQ(JumpsIn(Ahead(0, 20'000, 0)).size(), 2U);
  EXPECT_EQ(JumpsIn(Ahead(0, -20'000, 0)).size(), 2U);
  EXPECT_EQ(JumpsIn(Ahead(0, -20'000, -45'000)).size(), 2U);
  EXPECT_EQ(JumpsIn(Ahead(0, 20'000, 20'000)).size(), 1U);
}

TEST(Damage, AStallWithLaunchesQueuedIsNoJump) {
  TraceBuilder builder;
  AddKernels(&builder, 20, 1000);
  for (int i = 0; i < 6; ++i)  // launched in a row, run 20 ms later
    builder.Eager("k", 1400 + i, 21'400 + 20 * i, 10);
  AddKernels(&builder, 20, 21'600);
  EXPECT_TRUE(DamageOf(builder).empty());
}

/// Replays of a main and a side lane, one launched when the one before has
/// ended; the side lane's kernel of one is recorded 5 ms too long. The side
/// lane has another number each time.
TraceBuilder LongSide(int replay, int64_t usual_us) {
  TraceBuilder builder;
  for (int i = 0; i < 8; ++i) {
    std::vector<TraceBuilder::GraphOp> graph;
    for (int k = 0; k < 20; ++k) graph.push_back({"k", 10 * k, 9});
    const int64_t dur = usual_us * (i % 2 + 1) + (i == replay ? 5000 : 0);
    graph.push_back({"side", 50, dur, static_cast<uint32_t>(i + 1)});
    builder.Replay(graph, 300 * i, 300 * i + 10);
  }
  return builder;
}

TEST(Damage, AKernelThatRunsOnBehindItsReplay) {
  for (const int replay : {0, 3, 6, 7}) {
    const std::vector<Damage> found = DamageOf(LongSide(replay, 20));
    ASSERT_EQ(found.size(), 1U) << replay;
    EXPECT_EQ(found[0].kind, DamageKind::kImpossibleDuration);
    EXPECT_GT(found[0].end_ns - found[0].begin_ns, 4'800'000);
  }
  EXPECT_TRUE(DamageOf(LongSide(-1, 20)).empty());
}

/// Seven kernels, the last one 5 ms long; on lane 1 others run on.
TraceBuilder LongLast(int64_t longest_us) {
  TraceBuilder builder;
  for (int i = 0; i < 6; ++i)
    builder.Eager("k", 100 * i, 100 * i + 5, i == 3 ? longest_us : 10);
  builder.Eager("k", 600, 605, 5000);
  for (int i = 0; i < 3; ++i)
    builder.Eager("other", 100 * i, 100 * i + 5, 9, 1);
  return builder;
}

TEST(Damage, TheLastKernelOfALane) {
  const std::vector<Damage> found = DamageOf(LongLast(10));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].begin_ns, 615'000);
  EXPECT_EQ(found[0].end_ns, 5'605'000);
  // Its calls vary: this may be another size of work.
  EXPECT_TRUE(DamageOf(LongLast(80)).empty());
  // But the host has waited for it, and has gone on.
  TraceBuilder waited = LongLast(80);
  waited.Sync(610);
  EXPECT_EQ(DamageOf(waited).size(), 1U);
  EXPECT_TRUE(DamageOf(LongLast(600)).empty());
}

TEST(Damage, TimesAtTheEndsOfTheRange) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 1000 - 4000;
  TraceBuilder builder;
  AddKernels(&builder, 20, 1000);
  builder.Eager("k", 1395, 1400, kFar);
  AddKernels(&builder, 20, 1420);
  EXPECT_EQ(DamageOf(builder).size(), 1U);
  TraceBuilder apart;
  AddKernels(&apart, 12, -kFar);
  AddKernels(&apart, 12, kFar - 2000, kFar);
  DamageOf(apart);  // must not overflow
}

}  // namespace
}  // namespace inferdiff
