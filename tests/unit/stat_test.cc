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

TEST(Distribution, SummarisesWhatWasMergedAsIfItWereOne) {
  std::vector<int64_t> all;
  Distribution merged;
  for (int64_t rank = 0; rank < 7; ++rank) {
    std::vector<int64_t> samples;
    for (int64_t i = 0; i < 37; ++i)
      samples.push_back((i * 7919 + rank * 104729) % 61 - 5);
    all.insert(all.end(), samples.begin(), samples.end());
    Distribution one;
    one.Add(samples);
    merged.Merge(one);
  }
  const Stat expected = Summarise(all);
  const Stat stat = merged.Summary();
  EXPECT_EQ(stat.total, expected.total);
  EXPECT_EQ(stat.n, expected.n);
  EXPECT_EQ(stat.median, expected.median);
  EXPECT_EQ(stat.p10, expected.p10);
  EXPECT_EQ(stat.p90, expected.p90);
  EXPECT_EQ(stat.min, expected.min);
  EXPECT_EQ(stat.max, expected.max);
}

TEST(Distribution, OfNothingIsUnknown) {
  EXPECT_EQ(Distribution().Summary().n, 0);
}

}  // namespace
}  // namespace inferdiff
