// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <gtest/gtest.h>

#include <limits>

namespace inferdiff {
namespace {

using Texts = std::vector<std::string>;

TEST(Decimal, RoundsHalfAwayFromZeroOnce) {
  EXPECT_EQ(Decimal({1880, 1}, 3, 1000), "1.880");
  EXPECT_EQ(Decimal({5, 1}, 0, 10), "1");
  EXPECT_EQ(Decimal({-5, 1}, 0, 10), "\u22121");
  EXPECT_EQ(Decimal({4999, 1}, 0, 10000), "0");
  EXPECT_EQ(Decimal({1, 3}, 3), "0.333");
  EXPECT_EQ(Decimal({2, 3}, 3), "0.667");
}

TEST(Decimal, WhatRoundsToZeroHasNoSign) {
  EXPECT_EQ(Decimal({-4, 1}, 2, 1000), "0.00");
  EXPECT_EQ(SignedDecimal({4, 1}, 2, 1000), "0.00");
  EXPECT_EQ(SignedDecimal({6, 1}, 2, 1000), "+0.01");
  EXPECT_EQ(SignedDecimal({-6, 1}, 2, 1000), "\u22120.01");
}

TEST(Decimal, HoldsTheLargestTimes) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Decimal({most, 1}, 3, 1'000'000), "9223372036854.776");
  EXPECT_EQ(Decimal({-most, most}, 3), "\u22121.000");
}

TEST(AddingColumn, PartsAddUpToTheRoundedTotal) {
  // Three thirds of 1: each rounds to 0.3, the total is 1.0.
  const auto thirds = AddingColumn({{1, 3}, {1, 3}, {1, 3}}, 1, 1);
  EXPECT_EQ(thirds.parts, (Texts{"0.4", "0.3", "0.3"}));
  EXPECT_EQ(thirds.total, "1.0");
}

TEST(AddingColumn, LargestRemainderGetsTheDigit) {
  const auto column = AddingColumn({{14, 1}, {16, 1}, {20, 1}}, 0, 10);
  EXPECT_EQ(column.parts, (Texts{"1", "2", "2"}));
  EXPECT_EQ(column.total, "5");
}

TEST(AddingColumn, MixedSignsAndDenominators) {
  const auto column =
      AddingColumn({{1, 2}, {-1, 3}, {0, 1}}, 2, 1, Sign::kAlways);
  EXPECT_EQ(column.parts, (Texts{"+0.50", "\u22120.33", "0.00"}));
  EXPECT_EQ(column.total, "+0.17");
}

TEST(AddingColumn, ExactPartsDoNotMove) {
  const auto column = AddingColumn({{10, 1}, {0, 1}, {25, 10}}, 0, 1);
  EXPECT_EQ(column.parts, (Texts{"10", "0", "3"}));
  EXPECT_EQ(column.total, "13");
}

TEST(ApportionWithin, PartsOfEachParentAddUpToIt) {
  // 4.236 of busy time, rounded, holds 1.4995 + 2.7364, and the latter three
  // parts that would each be rounded down.
  const Precision digits{0, 1000};
  EXPECT_EQ(
      ApportionWithin({{1'499'500, 1}, {2'736'400, 1}}, {0, 0}, {4236}, digits),
      (std::vector<int64_t>{1500, 2736}));
  EXPECT_EQ(ApportionWithin({{400, 1}, {400, 1}, {400, 1}, {2'736'400, 1}},
                            {0, 0, 0, 1}, {1, 2737}, digits),
            (std::vector<int64_t>{1, 0, 0, 2737}));
}

TEST(PrintDigits, ZeroIsExactlyZero) {
  EXPECT_EQ(PrintDigits(0, 3, true), "0.000");
  EXPECT_EQ(PrintDigits(0, 3, false), "<0.001");
  EXPECT_EQ(PrintDigits(12, 1, false), "1.2");
}

TEST(Plural, One) {
  EXPECT_EQ(Plural(1, "step"), "1 step");
  EXPECT_EQ(Plural(0, "step"), "0 steps");
}

TEST(PercentColumn, AddsUpToAHundred) {
  const auto column = PercentColumn({{1, 7}, {1, 7}, {1, 7}}, 1);
  EXPECT_EQ(column.parts, (Texts{"33.4", "33.3", "33.3"}));
  EXPECT_EQ(column.total, "100.0");
}

TEST(PercentColumn, NegativeSumKeepsShares) {
  const auto column = PercentColumn({{-3, 1}, {1, 1}}, 0);
  EXPECT_EQ(column.parts, (Texts{"150", "\u221250"}));
}

TEST(PercentColumn, ZeroSumHasNoShares) {
  EXPECT_EQ(PercentColumn({{0, 1}, {0, 1}}, 1).parts,
            (Texts{"\u2014", "\u2014"}));
}

TEST(Ratio, ThreeDigits) {
  EXPECT_EQ(Ratio({188, 1}, {100, 1}), "1.88");
  EXPECT_EQ(Ratio({1, 3}, {1, 60}), "20.0");
  EXPECT_EQ(Ratio({12345, 1}, {10, 1}), "1235");
  EXPECT_EQ(Ratio({1, 1}, {0, 1}), "\u2014");
}

TEST(Duration, PicksItsUnit) {
  EXPECT_EQ(Duration({940, 1}), "940 ns");
  EXPECT_EQ(Duration({9405, 10}), "941 ns");
  EXPECT_EQ(Duration({18'100, 1}), "18.1 \u00b5s");
  EXPECT_EQ(Duration({8'190'000, 1}), "8.19 ms");
  EXPECT_EQ(Duration({474'000'000, 1}), "474 ms");
  EXPECT_EQ(SignedDuration({-3'120'000, 1}), "\u22123.12 ms");
  EXPECT_EQ(Duration({0, 1}), "0 ns");
}

TEST(UnitFor, LargestDecides) {
  EXPECT_EQ(UnitFor({{5, 1}, {-2'000'000, 1}}).name, "ms");
  EXPECT_EQ(UnitFor({}).name, "ns");
}

TEST(Grouped, Thousands) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(43915), "43,915");
  EXPECT_EQ(Grouped(-1234567), "-1,234,567");
}

TEST(Bytes, PowersOfAThousand) {
  EXPECT_EQ(Bytes(238), "238 B");
  EXPECT_EQ(Bytes(80'345'000), "80.3 MB");
  EXPECT_EQ(Bytes(999'999), "1000 kB");
}

}  // namespace
}  // namespace inferdiff
