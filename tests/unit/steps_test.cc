// SPDX-License-Identifier: Apache-2.0
// Steps from markers: whose each op is, borders, groups.
#include "steps/steps.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace inferdiff {
namespace {

using Graph = std::vector<TraceBuilder::GraphOp>;

Steps StepsOf(const TraceBuilder& builder) {
  const Trace trace = builder.Build();
  return FindSteps(trace, ClassesByWord(trace));
}

/// `n` kernels of 10 us, back to back.
Graph GraphOf(const std::string& name, int n) {
  Graph graph;
  for (int i = 0; i < n; ++i) {
    graph.push_back({name + std::to_string(i), 10 * i, 10});
  }
  return graph;
}

std::vector<int64_t> Begins(const Steps& steps) {
  std::vector<int64_t> out;
  for (const Step& step : steps.steps) out.push_back(step.begin_ns / 1000);
  return out;
}

using Numbers = std::vector<int64_t>;

TEST(MarkerSteps, AHostRangeOwnsWhatItLaunches) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.Mark("step[DECODE bs=4]", 1000 * i, 900);
    b.Eager("prepare", 1000 * i + 10, 1000 * i + 100, 5);
    b.Replay(GraphOf("k", 20), 1000 * i + 50, 1000 * i + 200);
    b.Sync(1000 * i + 60);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(s.evidence, Evidence::kMarkers);
  EXPECT_EQ(Begins(s), (Numbers{100, 1100, 2100, 3100}));
  EXPECT_EQ(s.steps[1].ops, 21U);
  EXPECT_EQ(s.steps[1].marker, "step[DECODE bs=4]");
  EXPECT_EQ(*s.steps[1].next_begin_ns, 2100000);
  EXPECT_TRUE(s.cross_check_agrees) << s.cross_check;
  EXPECT_NE(s.cross_check, "");
  ASSERT_EQ(s.groups.size(), 1U);
  EXPECT_EQ(s.groups[0].steps, 4U);
  EXPECT_EQ(s.groups[0].used, 3U);
  EXPECT_EQ(s.steps[3].excluded_id, "no-successor");
}

// The next step's range opens, and launches, before this step runs.
TEST(MarkerSteps, OverlappedSchedulingMovesNoBorder) {
  TraceBuilder b;
  for (int i = 0; i < 5; ++i) {
    b.Mark("step[DECODE bs=4]", 1000 * i, 990);
    b.Replay(GraphOf("k", 90), 1000 * i + 10, 1000 * i + 1500);
    b.Eager("sample", 1000 * i + 20, 1000 * i + 2410, 50);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(Begins(s), (Numbers{1500, 2500, 3500, 4500, 5500}));
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 91U);
}

TEST(MarkerSteps, ASideLaneThatStartsEarlyMovesNoBorder) {
  TraceBuilder b;
  b.Mark("step[DECODE bs=4]", 0, 5000);
  b.Eager("arange", 5, 10, 5, 1);  // 464 ms in front of the forward pass
  b.Eager("prepare", 4000, 464000, 5);
  b.Replay(GraphOf("k", 50), 4001, 464010);
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.steps.size(), 1U);
  EXPECT_EQ(s.steps[0].begin_ns, 464000000);
  EXPECT_EQ(s.steps[0].forward_lane, 0U);
  EXPECT_EQ(s.steps[0].ops, 52U);
  EXPECT_TRUE(s.steps[0].excluded_id.empty());
  EXPECT_FALSE(s.steps[0].next_begin_ns);
}

TEST(MarkerSteps, WhatIsLaunchedOutsideIsNobodys) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.Mark("step[DECODE bs=4]", 1000 * i, 500);
    b.Replay(GraphOf("k", 20), 1000 * i + 50, 1000 * i + 100);
    b.Eager("stray", 1000 * i + 700, 1000 * i + 800, 5);
  }
  const Trace trace = b.Build();
  const Steps s = FindSteps(trace, ClassesByWord(trace));
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const bool stray = (*trace.names)[trace.ops.name[i]] == "stray";
    EXPECT_EQ(s.step_of_op[i] == kNone, stray);
  }
}

TEST(MarkerSteps, AnotherThreadsLaunchesGoByTimeWithinTheProcess) {
  TraceBuilder b;
  b.Process(0, "100");
  b.Process(1, "100");
  b.Process(2, "200");
  for (int i = 0; i < 3; ++i) {
    b.Mark("ProfilerStep#" + std::to_string(i), 1000 * i, 1000);
    b.Eager("forward", 1000 * i + 10, 1000 * i + 20, 100);
    b.Eager("backward", 1000 * i + 500, 1000 * i + 510, 100, 0, 1);
    b.Eager("other", 1000 * i + 800, 1000 * i + 810, 10, 0, 2);
  }
  const Trace trace = b.Build();
  const Steps s = FindSteps(trace, ClassesByWord(trace));
  EXPECT_EQ(s.evidence, Evidence::kMarkers);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const bool other = (*trace.names)[trace.ops.name[i]] == "other";
    EXPECT_EQ(s.step_of_op[i], other ? kNone : static_cast<uint32_t>(i / 3));
  }
  EXPECT_EQ(s.steps[0].shape.kind, StepKind::kOther);
}

TEST(MarkerSteps, OfNestedFamiliesTheOutermostIsChosen) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.Mark(
        "execute_16_context_0(sq0sk0sqsq0sqsk0)_generation_16(sq16sk8209sqsq16"
        "sqsk8209)",
        1000 * i, 900);
    b.Mark("step[DECODE bs=16]", 1000 * i + 100, 300);
    b.Eager("prepare", 1000 * i + 20, 1000 * i + 50, 5);
    b.Replay(GraphOf("k", 20), 1000 * i + 150, 1000 * i + 200);
    b.Eager("sample", 1000 * i + 600, 1000 * i + 700, 5);
  }
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.steps.size(), 3U);
  EXPECT_EQ(s.steps[0].marker.substr(0, 8), "execute_");
  EXPECT_EQ(s.steps[0].ops, 22U);
  EXPECT_EQ(s.steps[0].shape.context, 8209);
}

TEST(MarkerSteps, AFamilyAroundSeveralPassesIsNotChosen) {
  TraceBuilder b;
  b.Mark("execute_context_0(0)_generation_4(4)", 0, 4000);
  for (int i = 0; i < 4; ++i) {
    b.Mark("step[DECODE bs=4]", 1000 * i, 900);
    b.Replay(GraphOf("k", 20), 1000 * i + 150, 1000 * i + 200);
  }
  EXPECT_EQ(StepsOf(b).steps.size(), 4U);
}

TEST(MarkerSteps, TheProfilersScheduleAroundReplaysIsNotChosen) {
  TraceBuilder b;
  for (int i = 0; i < 8; ++i) {
    if (i % 4 == 0) b.Mark("ProfilerStep#" + std::to_string(i), 1000 * i, 4000);
    b.Replay(GraphOf("k", 20), 1000 * i + 150, 1000 * i + 200);
    b.Sync(1000 * i + 160);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(s.evidence, Evidence::kGraphReplays);
  EXPECT_EQ(s.steps.size(), 8U);
  EXPECT_FALSE(s.cross_check_agrees);
}

TEST(MarkerSteps, SamplingAfterTheMarkerExtendsItToTheNext) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.Mark("execute_context_0(0)_generation_4(4)", 1000 * i, 300);
    b.Replay(GraphOf("k", 20), 1000 * i + 50, 1000 * i + 100);
    b.Eager("sample", 1000 * i + 500, 1000 * i + 550, 5);
    b.Eager("copy", 1000 * i + 510, 1000 * i + 560, 5);
  }
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.steps.size(), 4U);
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 22U);
  EXPECT_NE(s.how.find("between two markers"), std::string::npos) << s.how;
}

TEST(MarkerSteps, AMarkerThatOnlyOpensLastsToTheNext) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.Mark("gpu_model_runner: preprocess", 1000 * i, 30);
    b.Mark("gpu_model_runner: forward", 1000 * i + 40, 100);
    b.Eager("copy", 1000 * i + 10, 1000 * i + 20, 5);
    b.Replay(GraphOf("k", 20), 1000 * i + 50, 1000 * i + 100);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(Begins(s), (Numbers{20, 1020, 2020, 3020}));
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 21U);
}

TEST(MarkerSteps, DraftWorkJoinsItsCycle) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    const int t = 1000 * i;
    b.Mark("step[DRAFT_LOOP raw_bs=1 bs=1 topk=1]", t, 100);
    b.Replay(GraphOf("d", 5), t + 10, t + 50);
    b.Mark("step[TARGET_VERIFY bs=1]", t + 200, 200);
    b.Replay(GraphOf("v", 30), t + 210, t + 250);
    b.Mark("step[DRAFT_EXTEND_V2 bs=1]", t + 500, 100);
    b.Replay(GraphOf("e", 5), t + 510, t + 650);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(Begins(s), (Numbers{50, 1050, 2050, 3050}));
  for (const Step& step : s.steps) {
    EXPECT_EQ(step.shape.kind, StepKind::kVerify);
    EXPECT_EQ(step.ops, 40U);
  }
  EXPECT_TRUE(s.cross_check_agrees) << s.cross_check;
}

TEST(MarkerSteps, DraftWorkAloneIsAStepOfItsOwn) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.Mark("step[DRAFT_LOOP raw_bs=1 bs=1 topk=1]", 1000 * i, 900);
    b.Replay(GraphOf("d", 5), 1000 * i + 10, 1000 * i + 50);
  }
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.steps.size(), 1U);  // they wait for a verify that never comes
  EXPECT_EQ(s.steps[0].shape.kind, StepKind::kDraft);
}

// Graphs that come out as one burst without launch records, after the markers.
TEST(MarkerSteps, MarkersThatLaunchNothingFallThrough) {
  TraceBuilder b;
  for (int i = 0; i < 6; ++i) b.Mark("step[DECODE bs=4]", 100 * i, 90);
  for (int i = 0; i < 6; ++i) {
    b.Replay(GraphOf("k", 20), -1, 5000 + 1000 * i);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(s.evidence, Evidence::kGraphReplays);
  EXPECT_EQ(s.steps.size(), 6U);
  EXPECT_FALSE(s.cross_check_agrees);
  EXPECT_NE(s.cross_check.find("6 markers"), std::string::npos);
}

// Only the prologue has launch records: its replay follows by time.
TEST(MarkerSteps, AReplayWithoutALaunchJoinsTheStepItStartsIn) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.Mark("step[DECODE bs=4]", 1000 * i, 900);
    b.Eager("prepare", 1000 * i + 10, 1000 * i + 100, 60);
    b.Replay(GraphOf("k", 20), -1, 1000 * i + 200);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(s.evidence, Evidence::kMarkers);
  ASSERT_EQ(s.steps.size(), 4U);
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 21U);
}

TEST(MarkerSteps, WorkLaunchedBeforeTheWindowIsAHeadStep) {
  TraceBuilder b;
  b.Replay(GraphOf("k", 20), -1, 0);
  for (int i = 1; i < 5; ++i) {
    b.Mark("step[DECODE bs=4]", 1000 * i, 900);
    b.Replay(GraphOf("k", 20), 1000 * i + 10, 1000 * i + 100);
  }
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.steps.size(), 5U);
  EXPECT_EQ(s.steps[0].excluded_id, "head-cut");
  EXPECT_EQ(s.steps[0].ops, 20U);
  EXPECT_TRUE(s.steps[1].excluded_id.empty());
}

TEST(MarkerSteps, GpuRangesServeOnlyWithoutHostRanges) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    for (int lane = 0; lane < 2; ++lane) {
      b.Mark("step[DECODE bs=4]", 1000 * i + 100 * lane, 800 - 500 * lane,
             static_cast<uint32_t>(lane), true);
    }
    for (int k = 0; k < 8; ++k) b.Op("k", 1000 * i + 100 * k, 50);
    b.Op("side", 1000 * i + 150, 50, 1);
  }
  const Steps s = StepsOf(b);
  EXPECT_EQ(s.evidence, Evidence::kMarkers);
  EXPECT_EQ(Begins(s), (Numbers{0, 1000, 2000, 3000}));
  for (const Step& step : s.steps) EXPECT_EQ(step.ops, 9U);

  b.Mark("ProfilerStep#1", 0, 10);  // a host range: launches nothing, but is
  EXPECT_NE(StepsOf(b).evidence, Evidence::kMarkers);
}

TEST(Groups, ShapesApartContextWithinTenPercent) {
  TraceBuilder b;
  const int context[] = {1000, 1040, 1100, 1101, 1200, 1200};
  for (int i = 0; i < 6; ++i) {
    b.Mark("execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk" +
               std::to_string(context[i]) + "sqsq4sqsk4)",
           1000 * i, 900);
    b.Replay(GraphOf("k", 20), 1000 * i + 10, 1000 * i + 100);
  }
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.groups.size(), 2U);
  EXPECT_EQ(s.groups[0].steps, 3U);
  EXPECT_EQ(s.groups[0].context_min, 1000);
  EXPECT_EQ(s.groups[0].context_max, 1100);
  EXPECT_FALSE(s.groups[0].shape.context);
  EXPECT_EQ(s.groups[1].steps, 3U);
  EXPECT_EQ(s.main_group, 0U);  // 3 ms of wall against 2 ms
}

TEST(Groups, AMixedInPrefillIsAnotherGroupAndSaidSo) {
  TraceBuilder b;
  int t = 0;
  for (int i = 0; i < 9; ++i) {
    const bool prefill = i == 4;
    b.Mark(prefill ? "step[EXTEND bs=1 toks=900]" : "step[DECODE bs=4]", t,
           prefill ? 4000 : 900);
    b.Replay(prefill ? GraphOf("p", 300) : GraphOf("k", 20), t + 10, t + 100);
    t += prefill ? 4100 : 1000;
  }
  const Steps s = StepsOf(b);
  ASSERT_EQ(s.groups.size(), 2U);
  EXPECT_EQ(s.groups[s.main_group].shape.kind, StepKind::kDecode);
  EXPECT_EQ(s.groups[s.main_group].used, 7U);
  EXPECT_TRUE(s.steps[4].excluded_id.empty());
  ASSERT_EQ(s.notes.size(), 1U);
  EXPECT_NE(s.notes[0].find("prefill"), std::string::npos);
  // Its neighbours' walls are their own.
  EXPECT_EQ(*s.steps[3].next_begin_ns - s.steps[3].begin_ns, 1000000);
  EXPECT_EQ(*s.steps[5].next_begin_ns - s.steps[5].begin_ns, 1000000);
}

TEST(Steps, BordersAreMonotoneAndEveryOpHasOneOwner) {
  TraceBuilder b;
  // The second step's forward lane is another one and begins first.
  b.Mark("step[DECODE bs=4]", 0, 90);
  b.Mark("step[DECODE bs=4]", 100, 90);
  b.Eager("late", 10, 5000, 100, 0);
  b.Eager("early", 110, 1000, 100, 1);
  const Steps s = StepsOf(b);
  EXPECT_EQ(Begins(s), (Numbers{1000, 5000}));
  EXPECT_EQ(s.step_of_op, (std::vector<uint32_t>{0, 1}));
}

TEST(Steps, AnEmptyTraceHasNone) {
  Trace trace;
  trace.names = std::make_shared<StringPool>();
  EXPECT_TRUE(FindSteps(trace, {}).steps.empty());
}

}  // namespace
}  // namespace inferdiff
