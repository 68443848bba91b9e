// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "probes/measure.h"

namespace inferdiff {
namespace {

TEST(ProbeMeasure, QuantilesAreLinearBetweenSamples) {
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({0, 10}, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({7}, 0.9), 7);
  EXPECT_TRUE(std::isnan(Median({})));
}

TEST(ProbeMeasure, FewSamplesHoldNoInterval) {
  EXPECT_TRUE(std::isinf(MedianHalfWidth({1, 1, 1, 1, 1})));
  EXPECT_DOUBLE_EQ(MedianHalfWidth({1, 1, 1, 1, 1, 1}), 0);
}

TEST(ProbeMeasure, TheIntervalIsThatOfTheBinomial) {
  // Of 100 samples the 95% interval of the median is from the 40th to the 61st.
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1);
  EXPECT_NEAR(2 * MedianHalfWidth(samples), 61 - 40, 1);
}

TEST(ProbeMeasure, StopsAsSoonAsTheMedianIsKnown) {
  const Measured steady = Measure({}, [] { return 730.0; });
  EXPECT_TRUE(steady.steady);
  EXPECT_EQ(steady.rounds, 11);
  EXPECT_DOUBLE_EQ(steady.median, 730);
  EXPECT_DOUBLE_EQ(steady.spread, 0);
}

TEST(ProbeMeasure, GoesOnToTheLimitWhereTheRoundsDisagree) {
  int i = 0;
  StopRule rule;
  rule.seconds = 60;
  const Measured noisy = Measure(rule, [&] { return ++i % 2 ? 100.0 : 200.0; });
  EXPECT_FALSE(noisy.steady);
  EXPECT_EQ(noisy.rounds, rule.most);
  EXPECT_DOUBLE_EQ(noisy.spread, 100);
}

TEST(ProbeMeasure, OneWildRoundMovesNothing) {
  int i = 0;
  const Measured measured =
      Measure({}, [&] { return ++i == 5 ? 9000.0 : 700.0; });
  EXPECT_TRUE(measured.steady);
  EXPECT_DOUBLE_EQ(measured.median, 700);
}

TEST(ProbeMeasure, TimeEndsIt) {
  StopRule rule;
  rule.seconds = 0;
  EXPECT_EQ(Measure(rule, [] { return 1.0; }).rounds, 1);
}

TEST(ProbeMeasure, DisturbedRoundsAreDropped) {
  int i = 0;
  const Measured measured = Measure({}, [&] { return ++i % 2 ? NAN : 5.0; });
  EXPECT_EQ(measured.rounds, 11);
  EXPECT_DOUBLE_EQ(measured.median, 5);
  EXPECT_EQ(Measure({}, [] { return NAN; }).rounds, 0);
}

TEST(ProbeMeasure, NearZeroTheAbsolutePrecisionHolds) {
  int i = 0;
  StopRule rule;
  rule.near = 0.5;
  EXPECT_TRUE(Measure(rule, [&] { return ++i % 2 ? 0.2 : -0.2; }).steady);
}

}  // namespace
}  // namespace inferdiff
