// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace inferdiff {
namespace {

/// Calls of `ranks` ranks with known arrivals; rank r's clock is ahead by
/// offsets[r] and gains drift[r] ns a ms.
struct MadeRanks {
  std::vector<Collectives> collectives;
  std::vector<std::vector<int64_t>> waits;  // by rank, call

  std::vector<RankCalls> Calls() const {
    std::vector<RankCalls> calls;
    for (const Collectives& one : collectives)
      calls.push_back(CallsByChannel(one, 0));
    return calls;
  }
};

MadeRanks Make(size_t ranks, size_t calls, std::span<const int64_t> offsets,
               uint32_t seed, int64_t drift_per_ms = 0) {
  std::mt19937 random(seed);
  const auto draw = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  MadeRanks made;
  made.collectives.resize(ranks);
  made.waits.resize(ranks);
  for (Collectives& one : made.collectives) one.names = {"all_reduce"};
  int64_t now = 1'000'000'000;
  for (size_t i = 0; i < calls; ++i) {
    std::vector<int64_t> arrivals;
    for (size_t r = 0; r < ranks; ++r)
      arrivals.push_back(now + 100'000 + draw(i % 16 == 0 ? 400'000 : 3'000));
    const int64_t last = *std::max_element(arrivals.begin(), arrivals.end());
    now = last + 9'000 + draw(300);
    for (size_t r = 0; r < ranks; ++r) {
      CollectiveCall call;
      const int64_t off =
          offsets[r] + static_cast<int64_t>(r) * drift_per_ms * now / 1'000'000;
      call.start_ns = arrivals[r] + off;
      call.end_ns = now + draw(400) + off;
      call.ordinal = i;
      made.collectives[r].calls.push_back(call);
      made.waits[r].push_back(last - arrivals[r]);
    }
  }
  return made;
}

void ExpectWaits(const MadeRanks& made, const RankMatch& match,
                 int64_t tolerance) {
  for (uint32_t r = 0; r < made.collectives.size(); ++r) {
    const std::vector<RankWait> waits = match.WaitsOf(r);
    ASSERT_EQ(waits.size(), made.waits[r].size());
    for (size_t i = 0; i < waits.size(); ++i) {
      EXPECT_EQ(waits[i].call, i);
      EXPECT_NEAR(static_cast<double>(waits[i].wait_ns),
                  static_cast<double>(made.waits[r][i]),
                  static_cast<double>(tolerance))
          << "rank " << r << " call " << i;
    }
  }
}

TEST(RankMatch, FindsOffsetsAndWaits) {
  const std::vector<int64_t> offsets = {0, 350'000, -820'000, 15};
  const MadeRanks made = Make(4, 160, offsets, 1);
  const RankMatch match = MatchRanks(made.Calls());
  ExpectWaits(made, match, 500);
  for (size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(match.ranks[r].reference, 0U);
    EXPECT_NEAR(static_cast<double>(match.ranks[r].clock.At(1'008'000'000)),
                static_cast<double>(offsets[r]), 500.0);
    EXPECT_LT(match.ranks[r].residual_ns, 600);
    EXPECT_EQ(match.ranks[r].unmatched, 0U);
  }
}

TEST(RankMatch, FollowsAClockThatRunsFast) {
  const std::vector<int64_t> offsets = {0, 0};
  const MadeRanks made = Make(2, 600, offsets, 2, 40);  // 40 ppm
  ExpectWaits(made, MatchRanks(made.Calls()), 900);
}

TEST(RankMatch, SurvivesCallsThatOneRankLacks) {
  const std::vector<int64_t> offsets = {0, 120'000};
  MadeRanks made = Make(2, 100, offsets, 3);
  // Rank 1 entered late and lost one call in the middle.
  auto& calls = made.collectives[1].calls;
  calls.erase(calls.begin() + 50);
  calls.erase(calls.begin(), calls.begin() + 7);
  const RankMatch match = MatchRanks(made.Calls());
  EXPECT_EQ(match.ranks[0].unmatched, 8U);
  EXPECT_EQ(match.ranks[1].unmatched, 0U);
  for (const MatchedCollective& one : match.collectives) {
    ASSERT_EQ(one.parts, 2U);
    const CollectivePart& a = match.parts[one.first_part];
    const CollectivePart& b = match.parts[one.first_part + 1];
    EXPECT_EQ(made.collectives[0].calls[a.call].ordinal,
              made.collectives[1].calls[b.call].ordinal);
  }
}

TEST(RankMatch, KeepsGroupsThatDoNotMeetApart) {
  const std::vector<int64_t> offsets = {0, 0};
  MadeRanks made = Make(2, 80, offsets, 4);
  MadeRanks other = Make(2, 80, offsets, 5);  // another tensor-parallel group
  for (Collectives& one : other.collectives) made.collectives.push_back(one);
  const RankMatch match = MatchRanks(made.Calls());
  EXPECT_EQ(match.ranks[1].reference, 0U);
  EXPECT_EQ(match.ranks[2].reference, 2U);
  EXPECT_EQ(match.ranks[3].reference, 2U);
  for (const MatchedCollective& one : match.collectives)
    EXPECT_EQ(one.parts, 2U);
}

TEST(RankMatch, NamesTheLastRank) {
  const std::vector<int64_t> offsets = {0, 0};
  MadeRanks made = Make(2, 40, offsets, 6);
  // Rank 1 comes 50 us late each time; the ends stay.
  for (CollectiveCall& call : made.collectives[0].calls)
    call.start_ns -= 50'000;
  const RankMatch match = MatchRanks(made.Calls());
  size_t last = 0;
  for (const MatchedCollective& one : match.collectives)
    last += one.last_rank == 1;
  EXPECT_GT(last, 35U);
}

TEST(RankMatch, SaysNothingFromTooFewCalls) {
  const std::vector<int64_t> offsets = {0, 0};
  const MadeRanks made = Make(2, 3, offsets, 7);
  const RankMatch match = MatchRanks(made.Calls());
  EXPECT_TRUE(match.collectives.empty());
  EXPECT_EQ(match.ranks[1].unmatched, 3U);
}

}  // namespace
}  // namespace inferdiff
