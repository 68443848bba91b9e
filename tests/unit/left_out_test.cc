// SPDX-License-Identifier: Apache-2.0
#include "ledger/left_out.h"

#include <gtest/gtest.h>

namespace inferdiff {
namespace {

/// Four decodes, of which one lies beside a prefill and one has no successor.
Steps DecodesAroundAPrefill() {
  Steps steps;
  steps.groups.resize(2);
  steps.groups[0].shape = {StepKind::kDecode, 4, 4, {}};
  steps.groups[1].shape = {StepKind::kPrefill, 1, 512, {}};
  steps.steps.resize(5);
  steps.steps[2].group = 1;
  steps.steps[4].excluded_id = "no-successor";
  steps.steps[4].excluded_why = "no step follows";
  return steps;
}

TEST(LeftOutSteps, WithTheUsedOnesTheyAreAllSteps) {
  const Steps steps = DecodesAroundAPrefill();
  const auto left_out = LeftOutSteps(steps, 0);
  ASSERT_EQ(left_out.size(), 2U);  // and steps 0, 1 and 3 are used
  EXPECT_EQ(left_out[0].step, 2U);
  EXPECT_EQ(left_out[0].id, "other-group");
  EXPECT_EQ(left_out[0].why, "another shape: prefill, batch 1, 512 tokens");
  EXPECT_EQ(left_out[1].id, "no-successor");
  EXPECT_EQ(LeftOutSteps(steps, 1).size(), 4U);
}

TEST(LeftOutSteps, WithoutMarkersTheWorkTellsThemApart) {
  Steps steps = DecodesAroundAPrefill();
  steps.groups[0].shape = steps.groups[1].shape = {};
  EXPECT_EQ(LeftOutSteps(steps, 0)[0].why,
            "another graph or other kernels than the accounted steps");
}

TEST(LeftOutReasons, NameEachShapeOnceAndStopSomewhere) {
  Steps steps;
  steps.steps.resize(30);
  for (uint32_t i = 0; i < 30; ++i) {
    steps.groups.emplace_back();
    steps.groups[i / 2].shape = {StepKind::kDecode, 1 + i / 2, {}, {}};
    steps.steps[i].group = i / 2;
  }
  const auto reasons = LeftOutReasons(steps, 0);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].steps.size(), 28U);
  EXPECT_EQ(
      LeftOutText(reasons[0], "A"),
      "28 steps of A left out (steps 2, 3, 4, 5, 6, 7, \u2026): another shape: "
      "decode, batch 2; another shape: decode, batch 3; another shape: "
      "decode, batch 4; another shape: decode, batch 5; another shape: "
      "decode, batch 6; another shape: decode, batch 7; \u2026.");
}

TEST(LeftOutReasons, OfASetAreNumberedWithinEachRank) {
  Steps steps = DecodesAroundAPrefill();
  const std::vector<Step> one_rank = steps.steps;
  steps.steps.insert(steps.steps.end(), one_rank.begin(), one_rank.end());
  for (uint32_t i = 5; i < 10; ++i) steps.steps[i].rank = 1;
  std::vector<RankRow> ranks(2);
  ranks[0].rank = 6;
  ranks[1].label = "late";
  EXPECT_EQ(
      LeftOutText(LeftOutReasons(steps, 0, ranks)[1], ""),
      "2 steps left out (steps 4 of rank 6, 4 of `late`): no step follows.");
}

}  // namespace
}  // namespace inferdiff
