// SPDX-License-Identifier: Apache-2.0
// Steps that are left out, each for a cause in the trace.
#include "steps/exclude.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace inferdiff {
namespace {

using Graph = std::vector<TraceBuilder::GraphOp>;

/// A collective, then kernels; `wait_us` more in the collective.
Graph Pass(int kernels, int64_t wait_us = 0) {
  Graph graph = {{"k", 0, 10}, {"nccl_allreduce", 10, 10 + wait_us}};
  for (int i = 2; i < kernels; ++i) {
    graph.push_back({Numbered("k", i % 5), 10 * i + wait_us, 10});
  }
  return graph;
}

/// Decode steps of 1 ms, one after the other; `idle_us` before the replay.
class Decoding {
 public:
  void Step(const Graph& graph, const std::string& marker, int64_t idle_us = 0,
            int64_t wall_us = 1000) {
    builder.Mark(marker, at_us_, wall_us - 50);
    builder.Eager("prepare", at_us_ + 5, at_us_ + 10, 10);
    builder.Replay(graph, at_us_ + 20, at_us_ + 30 + idle_us);
    at_us_ += wall_us;
  }
  std::vector<std::string> Excluded() const {
    const Trace trace = builder.Build();
    const Steps steps = FindSteps(trace, ClassesByWord(trace));
    std::vector<std::string> out;
    for (const inferdiff::Step& step : steps.steps) {
      EXPECT_EQ(step.excluded_id.empty(), step.excluded_why.empty());
      out.push_back(step.excluded_id);
    }
    return out;
  }
  TraceBuilder builder;

 private:
  int64_t at_us_ = 0;
};

using Ids = std::vector<std::string>;
constexpr char kDecode[] = "step[DECODE bs=4]";

TEST(Exclude, TheLastStepHasNoSuccessor) {
  Decoding run;
  for (int i = 0; i < 4; ++i) run.Step(Pass(50), kDecode);
  EXPECT_EQ(run.Excluded(), (Ids{"", "", "", "no-successor"}));
}

TEST(Exclude, AnotherShapeRunsAnotherGraph) {
  for (const char* marker : {kDecode, "step[DECODE bs=2]"}) {
    Decoding run;
    for (int i = 0; i < 6; ++i)
      run.Step(Pass(i == 3 ? 45 : 50), i == 3 ? marker : kDecode);
    EXPECT_EQ(run.Excluded()[3], marker == kDecode ? "missing-ops" : "");
  }
}

TEST(Exclude, TwoStepsLeaveOne) {
  Decoding run;
  for (int i = 0; i < 2; ++i) run.Step(Pass(50), kDecode);
  EXPECT_EQ(run.Excluded(), (Ids{"", "no-successor"}));
}

TEST(Exclude, TheEarlyRanksFirstStep) {
  Decoding run;
  run.Step(Pass(50, 95000), kDecode, 0, 96000);
  for (int i = 0; i < 5; ++i) run.Step(Pass(50), kDecode);
  EXPECT_EQ(run.Excluded(),
            (Ids{"rank-entered-early", "", "", "", "", "no-successor"}));
}

// The wait can be small beside the trace, and large beside the step.
TEST(Exclude, AShortWaitOfTheEarlyRankCounts) {
  Decoding run;
  run.Step(Pass(50, 200), kDecode, 0, 1200);
  for (int i = 0; i < 5; ++i) run.Step(Pass(50), kDecode);
  EXPECT_EQ(run.Excluded()[0], "rank-entered-early");
}

TEST(Exclude, ARankThatAlwaysWaitsStays) {
  Decoding run;
  for (int i = 0; i < 6; ++i) run.Step(Pass(50, 300), kDecode, 0, 1400);
  EXPECT_EQ(run.Excluded(), (Ids{"", "", "", "", "", "no-successor"}));
}

TEST(Exclude, AWaitLaterInTheTraceIsAResultNotAnArtifact) {
  Decoding run;
  for (int i = 0; i < 6; ++i) {
    run.Step(Pass(50, i == 3 ? 5000 : 0), kDecode, 0, i == 3 ? 6000 : 1000);
  }
  EXPECT_EQ(run.Excluded(), (Ids{"", "", "", "", "", "no-successor"}));
}

TEST(Exclude, TheProfilersFirstStepIdles) {
  Decoding run;
  run.Step(Pass(50), kDecode, 2500, 4000);
  for (int i = 0; i < 5; ++i) run.Step(Pass(50), kDecode);
  EXPECT_EQ(run.Excluded(),
            (Ids{"profiler-first-step", "", "", "", "", "no-successor"}));
}

// Long because it computes longer: no reason to leave it out.
TEST(Exclude, ALongFirstStepThatWorksStays) {
  Decoding run;
  Graph slow = Pass(50);
  slow.back().dur_us = 2000;
  run.Step(slow, kDecode, 0, 3000);
  for (int i = 0; i < 5; ++i) run.Step(Pass(50), kDecode);
  EXPECT_EQ(run.Excluded()[0], "");
}

TEST(Exclude, ATrendWithContextIsNoOutlier) {
  Decoding run;
  for (int i = 0; i < 20; ++i) {
    Graph graph = Pass(50);
    graph.back().dur_us = 10 + 100 * i;
    run.Step(graph, kDecode, 0, 1000 + 100 * i);
  }
  const Ids ids = run.Excluded();
  for (size_t i = 0; i + 1 < ids.size(); ++i) EXPECT_EQ(ids[i], "") << i;
}

TEST(Exclude, AStepThatLostKernelsAndNotItsNeighbours) {
  Decoding run;
  for (int i = 0; i < 6; ++i) {
    Graph graph = Pass(50);
    if (i == 2) graph.erase(graph.begin() + 20, graph.begin() + 23);
    run.Step(graph, kDecode);
  }
  EXPECT_EQ(run.Excluded(),
            (Ids{"", "", "missing-ops", "", "", "no-successor"}));
}

TEST(Exclude, AStepThatLostMostOfItsKernels) {
  Decoding run;
  for (int i = 0; i < 6; ++i) run.Step(Pass(i == 2 ? 12 : 50), kDecode);
  EXPECT_EQ(run.Excluded()[2], "missing-ops");
}

TEST(Exclude, IdleDataParallelSteps) {
  Decoding run;
  for (int i = 0; i < 6; ++i) {
    run.Step(Pass(50), i % 2 == 0 ? "step[IDLE bs=0]" : kDecode);
  }
  EXPECT_EQ(run.Excluded(), (Ids{"idle-step", "", "idle-step", "", "idle-step",
                                 "no-successor"}));
}

}  // namespace
}  // namespace inferdiff
