// SPDX-License-Identifier: Apache-2.0
#include "base/stat.h"

#include <gtest/gtest.h>

namespace inferdiff {
namespace {

TEST(Summarise, NearestRankNeverInterpolates) {
  const Stat stat = Summarise({10, 20, 30, 40});
  EXPECT_EQ(stat.total, 100);
  EXPECT_EQ(stat.n, 4);
  EXPECT_EQ(stat.median, 20);
  EXPECT_EQ(stat.p10, 10);
  EXPECT_EQ(stat.p90, 40);
}

TEST(Summarise, EmptyIsUnknown) { EXPECT_EQ(Summarise({}).n, 0); }

}  // namespace
}  // namespace inferdiff
