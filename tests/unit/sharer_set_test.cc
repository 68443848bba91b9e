// SPDX-License-Identifier: Apache-2.0
#include "ledger/sharer_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace inferdiff {
namespace {

TEST(SharerSet, OddNanosecondsGoToTheFirst) {
  std::vector<int64_t> dealt(3);
  SharerSet set(dealt);
  for (const uint32_t position : {2U, 0U, 1U}) set.Add(position);
  set.Deal(8);
  for (const uint32_t position : {0U, 1U, 2U}) set.Remove(position);
  EXPECT_EQ(dealt, (std::vector<int64_t>{3, 3, 2}));
  EXPECT_TRUE(set.empty());
}

// Against dealing by hand, with crowds far beyond and just around the size at
// which the set changes its ways.
TEST(SharerSet, CrowdsGetWhatDealingByHandGives) {
  for (const uint32_t positions : {1U, 2U, 15U, 16U, 17U, 18U, 64U, 300U}) {
    std::mt19937 random(positions);
    std::vector<int64_t> dealt(positions), expected(positions);
    SharerSet set(dealt);
    std::set<uint32_t> present;
    for (int round = 0; round < 3000; ++round) {
      const auto position = static_cast<uint32_t>(random() % positions);
      // Long phases of growing and of shrinking, down to nothing.
      const bool grow = (round / 500) % 2 == 0;
      if (grow && present.insert(position).second) set.Add(position);
      if (!grow && present.erase(position) > 0) set.Remove(position);
      if (present.empty()) continue;
      const auto dt = static_cast<int64_t>(random() % 1000);
      set.Deal(dt);
      const auto m = static_cast<int64_t>(present.size());
      int64_t rest = dt % m;
      for (const uint32_t member : present)
        expected[member] += dt / m + (rest-- > 0 ? 1 : 0);
    }
    for (const uint32_t member : present) set.Remove(member);
    EXPECT_EQ(dealt, expected) << positions;
    EXPECT_TRUE(set.empty());
  }
}

}  // namespace
}  // namespace inferdiff
