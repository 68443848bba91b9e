// SPDX-License-Identifier: Apache-2.0
#include "readers/file_name.h"

#include <gtest/gtest.h>

namespace inferdiff {
namespace {

TEST(FileName, SglangNamesRankAndStage) {
  const FileNameFacts facts = FactsOfFileName(
      "/data/1782843274.7730265-TP-3-DP-1-PP-0-EP-3-EXTEND.trace.json.gz");
  EXPECT_EQ(facts.tensor, 3);
  EXPECT_EQ(facts.data, 1);
  EXPECT_EQ(facts.pipeline, 0);
  EXPECT_EQ(facts.expert, 3);
  EXPECT_EQ(facts.stage, "prefill");
  EXPECT_FALSE(facts.rank);
  EXPECT_EQ(FactsOfFileName("profile-decode-TP0.json").stage, "decode");
}

TEST(FileName, VllmNamesTheRank) {
  const FileNameFacts facts = FactsOfFileName(
      "dp0_pp1_tp2_dcp0_ep2_rank6.1759300074000000000.pt.trace.json.gz");
  EXPECT_EQ(facts.rank, 6);
  EXPECT_EQ(facts.tensor, 2);
  EXPECT_EQ(facts.pipeline, 1);
  EXPECT_EQ(FactsOfFileName("host_12-rank-4.177.pt.trace.json").rank, 4);
}

TEST(FileName, AFolderMayNameTheRank) {
  const FileNameFacts facts =
      FactsOfFileName("run/rank_5/DeepSeek_ts_20260301_101500_123.json.gz");
  EXPECT_EQ(facts.rank, 5);
  EXPECT_FALSE(FactsOfFileName("rank_5/run/trace.json").rank);
}

TEST(FileName, RanksOfOneCaptureShareTheRun) {
  EXPECT_EQ(FactsOfFileName("178.7-TP-0-DECODE.trace.json.gz").run,
            FactsOfFileName("178.7-TP-11-DECODE.trace.json.gz").run);
  EXPECT_NE(FactsOfFileName("178.7-TP-0.json").run,
            FactsOfFileName("179.7-TP-0.json").run);
}

TEST(FileName, WordsThatOnlyLookLikeIt) {
  EXPECT_FALSE(FactsOfFileName("http-2.json").tensor);
  EXPECT_FALSE(FactsOfFileName("rank-17590000000.json").rank);
  EXPECT_FALSE(FactsOfFileName("tp.json").tensor);
  EXPECT_EQ(FactsOfFileName("decoder.json").stage, "");
}

}  // namespace
}  // namespace inferdiff
