// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "probes/judge.h"

namespace inferdiff {
namespace {

Report Canary(double copy, double node, double spread = 1) {
  Report report;
  report.device = "H200";
  report.results = {
      {"floor", "", {}, {500, 1, 11, true}, "ns", ""},
      {"bandwidth", "copy", {}, {copy, spread, 11, true}, "GB/s", ""},
      {"host_bandwidth", "node 0", {}, {node, spread, 11, true}, "GB/s", ""}};
  return report;
}

std::string Verdict(const Report& then, Report now) {
  JudgeCanary(then, &now);
  return now.verdict;
}

TEST(ProbeJudge, TheCanaryHasThreeVerdicts) {
  const Report then = Canary(4000, 100);
  EXPECT_EQ(Verdict(then, Canary(4000, 100)), "clean");
  EXPECT_EQ(Verdict(then, Canary(3890, 102)), "clean");
  EXPECT_EQ(Verdict(then, Canary(3800, 100)), "contended");
  EXPECT_EQ(Verdict(then, Canary(4400, 100)), "baseline-suspect");
  // Slower CPU memory counts, and before a faster device.
  EXPECT_EQ(Verdict(then, Canary(4400, 90)), "contended");
}

TEST(ProbeJudge, NoiseIsNoVerdict) {
  const Report then = Canary(4000, 100, 10);
  EXPECT_EQ(Verdict(then, Canary(4000, 85, 10)), "clean");
  EXPECT_EQ(Verdict(then, Canary(4000, 70, 10)), "contended");
}

TEST(ProbeJudge, TheReasonNamesTheFigures) {
  Report now = Canary(3800, 100);
  JudgeCanary(Canary(4000, 100), &now);
  EXPECT_EQ(now.reasons,
            std::vector<std::string>{
                "bandwidth copy: 3800.0 GB/s, -5.0% against the baseline's "
                "4000.0"});
}

TEST(ProbeJudge, AnotherMachineIsNoBaseline) {
  Report now = Canary(4000, 100), other = now;
  other.device = "H100";
  EXPECT_THROW(JudgeCanary(other, &now), std::runtime_error);
  other.device = now.device;
  other.results.clear();
  EXPECT_THROW(JudgeCanary(other, &now), std::runtime_error);
}

TEST(ProbeJudge, TheTracersCostIsLinearBetweenSizes) {
  const std::vector<TraceCost> costs = {{500, 1000}, {1500, 2000}};
  EXPECT_DOUBLE_EQ(AddedByTracer(costs, 100), 1000);
  EXPECT_DOUBLE_EQ(AddedByTracer(costs, 500), 1000);
  EXPECT_DOUBLE_EQ(AddedByTracer(costs, 750), 1250);
  EXPECT_DOUBLE_EQ(AddedByTracer(costs, 9000), 2000);
}

TEST(ProbeJudge, DurationsAreBelievedFromTheSizeOnFromWhichAllAre) {
  EXPECT_TRUE(Believed({700, 770}));
  EXPECT_FALSE(Believed({500, 704}));
  const std::vector<Recorded> sizes = {
      {500, 500}, {1000, 1200}, {2000, 2100}, {4000, 4100}};
  EXPECT_EQ(BelievedFrom(sizes), 2000);
  EXPECT_EQ(BelievedFrom({{500, 900}}), std::nullopt);
  EXPECT_EQ(BelievedFrom({{500, 500}}), 500);
}

}  // namespace
}  // namespace inferdiff
