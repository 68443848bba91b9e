// SPDX-License-Identifier: Apache-2.0
// Traces made to be slow or to overflow. Each takes milliseconds where the
// work is linear and minutes where it is quadratic.
#include <gtest/gtest.h>

#include "steps/steps.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

Steps StepsOf(const TraceBuilder& builder) {
  const Trace trace = builder.Build();
  Steps steps = FindSteps(trace, ClassesByWord(trace));
  EXPECT_EQ(steps.step_of_op.size(), trace.ops.size());
  for (size_t k = 0; k + 1 < steps.steps.size(); ++k) {
    EXPECT_LE(steps.steps[k].begin_ns, steps.steps[k + 1].begin_ns);
    EXPECT_EQ(steps.steps[k].next_begin_ns, steps.steps[k + 1].begin_ns);
  }
  std::vector<uint32_t> ops(steps.steps.size(), 0);
  for (const uint32_t s : steps.step_of_op) {
    if (s != kNone) ++ops.at(s);
  }
  for (size_t k = 0; k < ops.size(); ++k) {
    EXPECT_EQ(ops[k], steps.steps[k].ops) << k;
  }
  return steps;
}

constexpr int kMany = 50000;

TEST(Hostile, ManyReplaysOfOneOp) {
  TraceBuilder b;
  for (int i = 0; i < kMany; ++i) b.Replay({{"k", 0, 5}}, 10 * i + 1, 10 * i);
  EXPECT_EQ(StepsOf(b).steps.size(), size_t{kMany});
}

TEST(Hostile, ManyReplaysOfManyGraphs) {
  TraceBuilder b;
  for (int64_t i = 0; i < kMany; ++i) {
    b.Replay({{Numbered("k", i * 7919 % (kMany / 3)), 0, 5}}, 10 * i, 10 * i);
  }
  EXPECT_EQ(StepsOf(b).steps.size(), size_t{kMany});
}

TEST(Hostile, ManyAnnotationsAndNoneAMarker) {
  TraceBuilder b;
  for (int i = 0; i < kMany; ++i) b.Mark(Numbered("range ", i), 10 * i, 9);
  b.Op("k", 0, 5);
  EXPECT_EQ(StepsOf(b).evidence, Evidence::kWholeTrace);
}

TEST(Hostile, MarkersNestedDeeply) {
  TraceBuilder b;
  for (int i = 0; i < kMany; ++i) {
    b.Mark(i % 2 == 0 ? "step[DECODE bs=1]" : "execute_new_0_cached_1", i,
           20 * kMany - 2 * i);
    b.Eager("k", 10 * i + 1, 10 * i + 3, 5);
  }
  EXPECT_EQ(StepsOf(b).steps.size(), 1U);
}

TEST(Hostile, MarkersThatOverlapInPart) {
  TraceBuilder b;
  for (int i = 0; i < kMany; ++i) {
    b.Mark("step[DECODE bs=1]", 10 * i, 1000);
    b.Eager("k", 10 * i + 1, 10 * i + 3, 5);
  }
  EXPECT_EQ(StepsOf(b).steps.size(), size_t{kMany});
}

TEST(Hostile, ManyThreadsWithMarkers) {
  TraceBuilder b;
  for (int i = 0; i < kMany; ++i) {
    const auto thread = static_cast<uint16_t>(i % 20000);
    b.Mark("step[DECODE bs=1]", 10 * i, 9, thread);
    b.Eager("k", 10 * i + 1, 10 * i + 3, 5, 0, thread);
  }
  EXPECT_EQ(StepsOf(b).steps.size(), size_t{kMany});
}

TEST(Hostile, ManyLanesAndNames) {
  TraceBuilder b;
  for (uint32_t i = 0; i < kMany; ++i) {
    b.Op(Numbered("k", i % (kMany / 2)), 10 * i, 5, i);
  }
  StepsOf(b);
}

TEST(Hostile, TimesAtTheEndsOfTheRange) {
  const int64_t far = INT64_MAX / 1000 - 100;
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.Mark("step[DECODE bs=1]", -far + 10 * i, 5);
    b.Eager("nccl_k", -far + 10 * i, -far + 20 * i, 5);
  }
  b.Mark("step[DECODE bs=1]", far - 50, far);
  b.Eager("nccl_k", far - 50, far - 40, 5);
  b.Replay({{"a", 0, 5}, {"b", 10, 30}}, far - 30, far - 29);
  StepsOf(b);
}

TEST(Hostile, LaunchesAfterTheirOps) {
  TraceBuilder b;
  for (int i = 0; i < 100; ++i) {
    b.Mark("step[DECODE bs=1]", 10000 - 100 * i, 90);
    b.Eager("k", 10000 - 100 * i + 5, 100 * i, 50);
  }
  EXPECT_EQ(StepsOf(b).steps.size(), 100U);
}

}  // namespace
}  // namespace inferdiff
