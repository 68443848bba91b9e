// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trace_builder.h"

namespace inferdiff {
namespace {

const RuleSet& Rules() {
  static const RuleSet rules = RuleSet::Load();
  return rules;
}

/// A rank of a group of two: twelve steps, each a matrix product, an
/// all-reduce that both leave together, and a norm. Rank `slow` works 300 us
/// longer in front of the all-reduce; `late_us` is its host's delay instead.
LedgerResult RankOf(int64_t rank, int64_t extra_us, int64_t late_us,
                    int64_t others_us, int64_t clock_us = 0) {
  TraceBuilder builder;
  const int64_t wait_us = std::max<int64_t>(others_us - extra_us - late_us, 0);
  const int64_t reach_us = std::max(others_us, extra_us + late_us);
  for (int64_t step = 0; step < 12; ++step) {
    // Pauses between steps vary, as a host's do.
    const int64_t at = clock_us + step * 2000 + step * step % 7 * 13;
    builder.Mark("step[DECODE bs=4]", at - 5, 1500);
    const int64_t gemm = at + late_us;
    builder.Eager("nvjet_tst_64x64", gemm - 4, gemm, 500 + extra_us);
    const int64_t reduce = gemm + 500 + extra_us;
    builder.Eager("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", gemm - 3, reduce,
                  wait_us + 20);
    builder.Eager("rms_norm_kernel", gemm - 2, at + 520 + reach_us, 30);
  }
  Trace trace = builder.Build();
  trace.info.rank = rank;
  const Classification classes = Classify(trace, Rules());
  LedgerOptions options;
  options.keep_samples = true;
  LedgerResult ledger =
      BuildLedger(trace, classes, Rules(), FindSteps(trace, classes), options);
  ledger.source.info = trace.info;
  ledger.source.label = "TP-" + std::to_string(rank);
  return ledger;
}

LedgerResult Joined(const std::vector<LedgerResult>& ranks) {
  std::vector<PackedRank> packed;
  for (const LedgerResult& rank : ranks) packed.push_back(Pack(rank));
  return JoinRanks(packed, "set");
}

int64_t SumOf(const LedgerResult& ledger, Category category) {
  return ledger.categories[static_cast<size_t>(category)].sum_ns;
}

TEST(RankSet, WaitingIsNoCommunication) {
  std::vector<LedgerResult> ranks;
  ranks.push_back(RankOf(0, 0, 0, 300));
  ranks.push_back(RankOf(1, 300, 0, 0, 777));  // its clock is ahead
  const LedgerResult joined = Joined(ranks);
  EXPECT_EQ(joined.wait_basis, WaitBasis::kRankSet);
  EXPECT_EQ(joined.used_steps, 22);  // the last of each has no successor
  EXPECT_EQ(SumOf(joined, Category::kCommunication), 22 * 20'000);
  EXPECT_EQ(joined.rank_wait.sum_ns, 11 * 300'000);
  ASSERT_EQ(joined.ranks.size(), 2U);
  EXPECT_EQ(joined.ranks[0].rank_wait_ns, 11 * 300'000);
  EXPECT_EQ(joined.ranks[1].rank_wait_ns, 0);
  EXPECT_EQ(joined.ranks[1].last_arrivals, 11U);
  EXPECT_EQ(joined.ranks[1].alignment.clock.At(0), 777'000);
  EXPECT_EQ(joined.matched_collectives, 12U);
  const RankFindings& found = joined.rank_findings;
  ASSERT_TRUE(found.straggler);
  EXPECT_EQ(found.straggler->rank, 1U);
  EXPECT_EQ(found.straggler->category, Category::kDenseGemm);
  EXPECT_EQ(found.straggler->caused_idle.num, 0);
}

TEST(RankSet, ALateHostIsIdleNotWork) {
  std::vector<LedgerResult> ranks;
  ranks.push_back(RankOf(0, 0, 0, 400));
  ranks.push_back(RankOf(1, 0, 400, 0));
  const LedgerResult joined = Joined(ranks);
  const RankFindings& found = joined.rank_findings;
  ASSERT_TRUE(found.straggler);
  EXPECT_EQ(found.straggler->rank, 1U);
  // The first call has nothing before it.
  EXPECT_GE(joined.ranks[1].caused_idle_ns, 10 * 390'000);
}

TEST(RankSet, OrderOfRanksDoesNotMatter) {
  const auto joined = [](bool swapped) {
    std::vector<LedgerResult> ranks;
    ranks.push_back(
        RankOf(swapped ? 1 : 0, swapped ? 300 : 0, 0, swapped ? 0 : 300));
    ranks.push_back(
        RankOf(swapped ? 0 : 1, swapped ? 0 : 300, 0, swapped ? 300 : 0));
    return Joined(ranks);
  };
  const LedgerResult a = joined(false);
  const LedgerResult b = joined(true);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (size_t i = 0; i < a.kernels.size(); ++i) {
    EXPECT_EQ(a.kernels[i].name, b.kernels[i].name);
    EXPECT_EQ(a.kernels[i].amounts, b.kernels[i].amounts);
    EXPECT_EQ(a.kernels[i].call_ns.median, b.kernels[i].call_ns.median);
  }
  EXPECT_EQ(a.source.crc32, b.source.crc32);
  EXPECT_EQ(a.per_step.wall.total, b.per_step.wall.total);
}

TEST(RankSet, RanksOfOtherWorkAreLeftOutByName) {
  std::vector<LedgerResult> ranks;
  for (int64_t rank = 0; rank < 3; ++rank)
    ranks.push_back(RankOf(rank, 0, 0, 0));
  ranks[1].steps.groups[ranks[1].group].shape.batch = 9;
  const LedgerResult joined = Joined(ranks);
  EXPECT_EQ(joined.used_steps, 22);
  EXPECT_TRUE(joined.ranks[1].left_out);
  ASSERT_FALSE(joined.steps.notes.empty());
  EXPECT_NE(joined.steps.notes.back().find("rank 1"), std::string::npos);
}

TEST(RankSet, OneRankIsALedgerOfItsOwn) {
  std::vector<LedgerResult> ranks;
  ranks.push_back(RankOf(3, 0, 0, 0));
  const LedgerResult alone = Joined(ranks);
  EXPECT_TRUE(alone.ranks.empty());
  EXPECT_EQ(alone.wait_basis, WaitBasis::kOneRank);
}

TEST(RankSet, RanksThatAllSayZeroAreNamedByTheirFiles) {
  std::vector<LedgerResult> ranks;
  for (const int64_t rank : {1, 0}) {
    ranks.push_back(RankOf(0, 0, 0, 0));
    ranks.back().source.name_rank = rank;
  }
  const LedgerResult joined = Joined(ranks);
  EXPECT_EQ(joined.ranks[0].rank, 0);
  EXPECT_EQ(joined.ranks[1].rank, 1);
}

}  // namespace
}  // namespace inferdiff
