// SPDX-License-Identifier: Apache-2.0
// Steps from graph replays alone: period, phase, irregular stretches.
#include "steps/replay_steps.h"

#include <gtest/gtest.h>

#include "steps/period.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

using Graph = std::vector<TraceBuilder::GraphOp>;
using Numbers = std::vector<uint32_t>;

Graph GraphOf(const std::string& name, int n) {
  Graph graph;
  for (int i = 0; i < n; ++i) {
    graph.push_back({name + std::to_string(i), 10 * i, 10});
  }
  return graph;
}

/// Replays one after the other on the GPU, launched ahead of it.
class Timeline {
 public:
  explicit Timeline(bool launches = true) : launches_(launches) {}
  void Run(const Graph& graph, int64_t pause_us = 5) {
    host_us_ = std::max(host_us_ + 2, gpu_us_ - 200);
    gpu_us_ = std::max(gpu_us_ + pause_us, host_us_ + 10);
    builder.Replay(graph, launches_ ? host_us_ : -1, gpu_us_);
    gpu_us_ += graph.back().start_us + graph.back().dur_us;
  }
  /// The host waits until the GPU is done.
  void Wait() {
    if (launches_) builder.Sync(host_us_ + 1);
    host_us_ = gpu_us_ + 20;
  }
  void Eager(const std::string& name) {
    builder.Eager(name, ++host_us_, gpu_us_ += 5, 10);
    gpu_us_ += 10;
  }
  Steps Find() const {
    const Trace trace = builder.Build();
    return FindSteps(trace, ClassesByWord(trace));
  }
  TraceBuilder builder;

 private:
  bool launches_;
  int64_t host_us_ = 0, gpu_us_ = 100;
};

/// Replays of each step, in step order.
Numbers ReplaysPerStep(const Steps& s) {
  Numbers out(s.steps.size(), 0);
  for (const Replay& r : s.replays) ++out.at(r.step);
  return out;
}

TEST(PeriodOf, ThePassIsFoundNotItsLayers) {
  Numbers pass;
  for (int step = 0; step < 5; ++step) {
    pass.push_back(1);
    pass.insert(pass.end(), 60, 2);
    pass.push_back(3);
  }
  EXPECT_EQ(PeriodOf(pass), 62U);
  EXPECT_EQ(PeriodOf({1, 1, 1, 1}), 1U);
  EXPECT_EQ(PeriodOf({1, 1, 2, 2, 1, 1, 2, 2}), 4U);
  EXPECT_EQ(PeriodOf({1, 2, 3, 4, 5}), 0U);
  EXPECT_EQ(PeriodOf({1}), 0U);
  EXPECT_EQ(PeriodOf({}), 0U);
}

TEST(PeriodOf, OneDamagedPeriodDoesNotHideIt) {
  Numbers s;
  for (int step = 0; step < 12; ++step) {
    for (const uint32_t x : {1U, 1U, 1U, 1U, 1U, 2U}) {
      if (step == 5 && x == 2) continue;
      s.push_back(x);
    }
  }
  EXPECT_EQ(PeriodOf(s), 6U);
}

TEST(ReplaySteps, OneReplayAStep) {
  Timeline t;
  for (int i = 0; i < 6; ++i) {
    t.Run(GraphOf("k", 50));
    t.Eager("sample");
    t.Wait();
  }
  const Steps s = t.Find();
  EXPECT_EQ(s.evidence, Evidence::kGraphReplays);
  EXPECT_EQ(s.steps.size(), 6U);
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 51U);
}

TEST(ReplaySteps, ACycleBeginsWhereTheHostWaits) {
  Timeline t;
  for (int cycle = 0; cycle < 8; ++cycle) {
    for (int d = 0; d < 5; ++d) t.Run(GraphOf("draft", 4));
    t.Run(GraphOf("verify", 80));
    t.Eager("copy");
    t.Wait();
  }
  const Steps s = t.Find();
  EXPECT_EQ(s.steps.size(), 8U);
  EXPECT_EQ(ReplaysPerStep(s), Numbers(8, 6));
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 5 * 4 + 80 + 1U);
  EXPECT_EQ(s.groups.size(), 1U);
  EXPECT_NE(s.how.find("every 6 replays"), std::string::npos) << s.how;
}

TEST(ReplaySteps, WithoutHostCallsTheLongestPauseIsTheBorder) {
  Timeline t(false);
  for (int cycle = 0; cycle < 8; ++cycle) {
    for (int d = 0; d < 5; ++d) t.Run(GraphOf("draft", 9), d == 0 ? 300 : 5);
    t.Run(GraphOf("verify", 80), 7);
  }
  EXPECT_EQ(ReplaysPerStep(t.Find()), Numbers(8, 6));
}

TEST(ReplaySteps, PiecewisePassesOfEveryLength) {
  for (int pieces = 3; pieces <= 60; pieces += 19) {
    Timeline t;
    for (int step = 0; step < 4; ++step) {
      for (int p = 0; p < pieces; ++p) {
        const bool first = p == 0, last = p == pieces - 1;
        t.Run(GraphOf(first ? "embed" : (last ? "head" : "layer"), 9 + p % 2));
        t.Eager("attention");
      }
      t.Eager("sample");
      t.Wait();
    }
    const Steps s = t.Find();
    EXPECT_EQ(ReplaysPerStep(s), Numbers(4, static_cast<uint32_t>(pieces)))
        << pieces;
  }
}

TEST(ReplaySteps, DraftsOfVaryingNumber) {
  const int drafts[] = {3, 5, 1, 4, 4, 2, 5, 3, 1, 5};
  for (const bool launches : {true, false}) {
    Timeline t(launches);
    for (const int n : drafts) {
      for (int d = 0; d < n; ++d) t.Run(GraphOf("draft", 9), d == 0 ? 300 : 5);
      t.Run(GraphOf("verify", 80));
      t.Wait();
    }
    const Steps s = t.Find();
    Numbers want;
    for (const int n : drafts) want.push_back(static_cast<uint32_t>(n) + 1);
    EXPECT_EQ(ReplaysPerStep(s), want) << launches;
    EXPECT_EQ(s.groups.size(), 1U);  // one verify graph: one kind of step
  }
}

TEST(ReplaySteps, ABatchThatShrinksIsOneReplayAStepInGroups) {
  Timeline t;
  for (const int batch : {8, 8, 8, 8, 7, 7, 7, 5, 5, 4, 2, 1}) {
    t.Run(GraphOf("batch" + std::to_string(batch) + "_", 50));
    t.Wait();
  }
  const Steps s = t.Find();
  EXPECT_EQ(ReplaysPerStep(s), Numbers(12, 1));
  EXPECT_EQ(s.groups.size(), 6U);
  EXPECT_EQ(s.main_group, 0U);
}

TEST(ReplaySteps, BatchesThatTakeTurnsAreStepsOfTheirOwn) {
  Timeline t;
  for (int i = 0; i < 12; ++i) {
    t.Run(GraphOf(i % 2 == 0 ? "batch8_" : "batch7_", 50));
    t.Wait();
  }
  const Steps s = t.Find();
  EXPECT_EQ(ReplaysPerStep(s), Numbers(12, 1));
  EXPECT_EQ(s.groups.size(), 2U);
}

TEST(ReplaySteps, AHostThatWaitsForEachDraftDoesNotSplitTheCycle) {
  Timeline t;
  for (int cycle = 0; cycle < 8; ++cycle) {
    for (int d = 0; d < 3; ++d) {
      t.Run(GraphOf("draft", 6));
      t.Wait();
    }
    t.Run(GraphOf("verify", 80));
    t.Eager("sample");
    t.Wait();
  }
  EXPECT_EQ(ReplaysPerStep(t.Find()), Numbers(8, 4));
}

TEST(ReplaySteps, CyclesWithFewerLargeDraftsLackNothing) {
  Timeline t;
  for (const int n : {3, 5, 1, 4, 4, 2, 5, 3, 1, 5}) {
    for (int d = 0; d < n; ++d) t.Run(GraphOf("draft", 40));
    t.Run(GraphOf("verify", 100));
    t.Wait();
  }
  const Steps s = t.Find();
  ASSERT_EQ(s.steps.size(), 10U);
  for (size_t k = 0; k < 9; ++k) EXPECT_EQ(s.steps[k].excluded_id, "") << k;
}

// Here 11 replays in a row come twice by chance: three cycles, not one.
TEST(ReplaySteps, CyclesThatComeTwiceInTheSameOrderAreNoPeriod) {
  Timeline t;
  Numbers replays;
  for (const uint32_t n : {1U, 1U, 2U, 1U, 2U, 2U, 1U, 2U, 2U}) {
    for (uint32_t d = 0; d < n; ++d) t.Run(GraphOf("draft", 12));
    t.Run(GraphOf("verify", 80));
    t.Run(GraphOf("extend", 15));
    t.Wait();
    replays.push_back(n + 2);
  }
  EXPECT_EQ(ReplaysPerStep(t.Find()), replays);
}

// Without markers the eager prefill is launched in the step before it.
TEST(ReplaySteps, AnEagerPrefillExcludesTheStepThatHoldsIt) {
  Timeline t;
  for (int i = 0; i < 8; ++i) {
    t.Run(GraphOf("k", 50));
    t.Eager("sample");
    t.Wait();
    if (i != 4) continue;
    for (int k = 0; k < 300; ++k) t.Eager("prefill");
    t.Wait();
  }
  const Steps s = t.Find();
  ASSERT_EQ(s.steps.size(), 8U);
  for (size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(s.steps[k].excluded_id, k == 4 ? "mixed-work" : "") << k;
  }
}

TEST(ReplaySteps, CutCyclesAtBothEndsAreNamed) {
  Timeline t;
  for (int d = 0; d < 2; ++d) t.Run(GraphOf("draft", 4));
  t.Run(GraphOf("verify", 80));
  t.Wait();
  for (int cycle = 0; cycle < 5; ++cycle) {
    for (int d = 0; d < 5; ++d) t.Run(GraphOf("draft", 4));
    t.Run(GraphOf("verify", 80));
    t.Wait();
  }
  for (int d = 0; d < 3; ++d) t.Run(GraphOf("draft", 4));
  const Steps s = t.Find();
  EXPECT_EQ(ReplaysPerStep(s), (Numbers{3, 6, 6, 6, 6, 6, 3}));
  EXPECT_EQ(s.steps.front().excluded_id, "incomplete-step");
  EXPECT_EQ(s.steps.back().excluded_id, "incomplete-step");
  for (size_t k = 1; k <= 5; ++k) {
    EXPECT_EQ(s.steps[k].excluded_id, "") << k;  // the tail ends the last wall
  }
}

TEST(ReplaySteps, APrefillAmongCyclesIsAStepOfItsOwn) {
  Timeline t;
  for (int cycle = 0; cycle < 9; ++cycle) {
    for (int d = 0; d < 5; ++d) t.Run(GraphOf("draft", 4));
    t.Run(GraphOf("verify", 80));
    t.Wait();
    if (cycle != 4) continue;
    t.Run(GraphOf("prefill", 500));
    t.Wait();
  }
  const Steps s = t.Find();
  EXPECT_EQ(ReplaysPerStep(s), (Numbers{6, 6, 6, 6, 6, 1, 6, 6, 6, 6}));
  EXPECT_EQ(s.steps[5].excluded_id, "");
  EXPECT_NE(s.steps[5].group, s.main_group);
  EXPECT_EQ(s.notes.size(), 1U);
}

TEST(ReplaySteps, ALostReplayExcludesItsCycleOnly) {
  Timeline t;
  for (int cycle = 0; cycle < 9; ++cycle) {
    for (int d = 0; d < 5; ++d) {
      if (cycle == 4 && d == 2) continue;
      t.Run(GraphOf("draft", 4));
    }
    t.Run(GraphOf("verify", 80));
    t.Wait();
  }
  const Steps s = t.Find();
  ASSERT_EQ(s.steps.size(), 9U);
  EXPECT_EQ(s.steps[4].excluded_id, "incomplete-step");
  EXPECT_EQ(s.steps[3].excluded_id, "");
  EXPECT_EQ(s.steps[5].excluded_id, "");
}

TEST(ReplaySteps, LaunchesBelongToTheReplayBeforeThem) {
  Timeline t;
  t.Eager("before");
  for (int i = 0; i < 4; ++i) {
    t.Run(GraphOf("k", 50));
    t.Eager("after");
    t.Wait();
  }
  const Trace trace = t.builder.Build();
  const Steps s = FindSteps(trace, ClassesByWord(trace));
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    if ((*trace.names)[trace.ops.name[i]] == "before") {
      EXPECT_EQ(s.step_of_op[i], kNone);
    } else {
      EXPECT_EQ(s.step_of_op[i], (i - 1) / 51);
    }
  }
}

TEST(ReplaySteps, AHeadReplayWithoutItsLaunchIsNamed) {
  TraceBuilder b;
  for (int i = 0; i < 5; ++i) {
    b.Replay(GraphOf("k", 20), i == 0 ? -1 : 1000 * i, 1000 * i + 50);
  }
  const Trace trace = b.Build();
  const Steps s = FindSteps(trace, ClassesByWord(trace));
  ASSERT_EQ(s.steps.size(), 5U);
  EXPECT_EQ(s.steps[0].excluded_id, "head-cut");
  EXPECT_EQ(s.steps[1].excluded_id, "");
}

TEST(ReplaySteps, OneReplayIsAUsedStepWithoutAWall) {
  TraceBuilder b;
  b.Replay(GraphOf("k", 20), 0, 50);
  const Trace trace = b.Build();
  const Steps s = FindSteps(trace, ClassesByWord(trace));
  ASSERT_EQ(s.steps.size(), 1U);
  EXPECT_EQ(s.steps[0].excluded_id, "");
  EXPECT_FALSE(s.steps[0].next_begin_ns);
  EXPECT_EQ(s.groups[s.main_group].used, 1U);
}

}  // namespace
}  // namespace inferdiff
