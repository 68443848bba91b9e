// SPDX-License-Identifier: Apache-2.0
#include "readers/launch_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/sort.h"
#include "model/trace.h"

namespace inferdiff {
namespace {

TEST(LaunchIndex, FindsFromAnyPlace) {
  // Mostly rising keys, as of calls from two threads, and some odd ones.
  std::mt19937 random(5);
  std::map<int64_t, uint32_t> truth;
  LaunchIndex index;
  size_t again = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    const int64_t key =
        i % 97 == 0 ? INT64_MIN + i : int64_t{i} * 3 + random() % 40;
    index.Add(key, i);
    again += truth.emplace(key, i).second ? 0 : 1;
  }
  EXPECT_GT(again, 0U);
  EXPECT_EQ(index.Finish(), again);
  size_t near = 0;
  for (int i = 0; i < 20000; ++i) {
    const int64_t key = static_cast<int64_t>(random() % 6200) - 10;
    const auto found = truth.find(key);
    if (i % 100 == 0) near = random() % 3000;  // also beyond the end
    EXPECT_EQ(index.Find(key, &near),
              found == truth.end() ? kNone : found->second);
  }
  near = 700;
  EXPECT_EQ(index.Find(INT64_MIN, &near), 0U);
  EXPECT_EQ(index.Find(INT64_MAX, &near), kNone);
}

TEST(LaunchIndex, OfNothing) {
  LaunchIndex index;
  EXPECT_EQ(index.Finish(), 0U);
  size_t near = 3;
  EXPECT_EQ(index.Find(7, &near), kNone);
}

TEST(SortByKey, IsStableOverTheWholeRange) {
  std::vector<int64_t> keys = {5, INT64_MAX, -1, 5, INT64_MIN, 0, 5, -1};
  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7};
  SortByKey(&keys, &values);
  EXPECT_EQ(keys,
            (std::vector<int64_t>{INT64_MIN, -1, -1, 0, 5, 5, 5, INT64_MAX}));
  EXPECT_EQ(values, (std::vector<int>{4, 2, 7, 5, 0, 3, 6, 1}));
}

}  // namespace
}  // namespace inferdiff
