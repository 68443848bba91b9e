// SPDX-License-Identifier: Apache-2.0
#include "compare/alignment.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/match_in_order.h"
#include "compare/match_layer.h"
#include "compare/match_outside.h"

namespace inferdiff {
namespace {

std::vector<PlacedOp> OpsOf(const std::vector<Role>& roles) {
  std::vector<PlacedOp> ops;
  for (const Role role : roles) {
    PlacedOp& op = ops.emplace_back();
    op.role.role = role;
    op.position = static_cast<uint32_t>(ops.size() - 1);
  }
  return ops;
}

/// "o_proj 3|4 high only-one", a line a group.
std::string TextOf(const LayerMatch& match) {
  std::string text;
  for (uint32_t group = 0; group < match.groups.size(); ++group) {
    const auto members = [&](const std::vector<uint32_t>& of) {
      std::string out;
      for (size_t i = 0; i < of.size(); ++i)
        if (of[i] == group)
          out.append(out.empty() ? "" : ",").append(std::to_string(i));
      return out;
    };
    const LayerMatch::Group& of = match.groups[group];
    text += fmt::format("{} {}|{} {} {}\n", IdOf(of.role), members(match.a),
                        members(match.b), IdOf(of.confidence), IdOf(of.reason));
  }
  return text;
}

std::string Match(const std::vector<Role>& a, const std::vector<Role>& b) {
  return TextOf(MatchLayer(OpsOf(a), OpsOf(b)));
}

std::vector<std::optional<uint32_t>> MatchWords(const std::string& a,
                                                const std::string& b) {
  return MatchInOrder(a.size(), b.size(),
                      [&](size_t i, size_t j) { return a[i] == b[j] ? 1 : 0; });
}

using Partners = std::vector<std::optional<uint32_t>>;

TEST(MatchInOrder, PairsCrossNowhere) {
  EXPECT_EQ(MatchWords("abc", "axbc"), (Partners{0, 2, 3}));
  EXPECT_EQ(MatchWords("ab", "ba"), (Partners{std::nullopt, 0}));
  EXPECT_EQ(MatchWords("", "a"), Partners{});
  EXPECT_EQ(MatchWords("a", ""), Partners{std::nullopt});
}

TEST(MatchInOrder, OneGoodPairOutweighsTwoPoorOnes) {
  const auto worth = [](size_t i, size_t j) {
    if (i == 1 && j == 0) return 5;
    return i == j ? 2 : 0;
  };
  EXPECT_EQ(MatchInOrder(2, 2, worth), (Partners{std::nullopt, 0}));
}

TEST(MatchLayer, OrderWithinALayerIsTheEnginesChoice) {
  EXPECT_EQ(Match({Role::kInputNorm, Role::kRouter, Role::kSharedExpert},
                  {Role::kInputNorm, Role::kSharedExpert, Role::kRouter}),
            "input_norm 0|0 high only-one\n"
            "router 1|2 high only-one\n"
            "shared_expert 2|1 high only-one\n");
}

TEST(MatchLayer, ReductionOfSplitsIsAttention) {
  EXPECT_EQ(Match({Role::kAttention, Role::kAttentionCombine, Role::kOProj},
                  {Role::kAttention, Role::kOProj}),
            "attention 0,1|0 medium only-one\n"
            "o_proj 2|1 high only-one\n");
}

TEST(MatchLayer, WorkThatOneSideFuses) {
  EXPECT_EQ(
      Match({Role::kExpertGemm1, Role::kExpertActivation, Role::kExpertGemm2},
            {Role::kExpertGemm1, Role::kExpertGemm2}),
      "expert_gemm_1 0,1|0 medium fused\n"
      "expert_gemm_2 2|1 high only-one\n");
  // Each side named the same fused kernel after another part of it.
  EXPECT_EQ(Match({Role::kRope, Role::kAttention},
                  {Role::kKvWrite, Role::kAttention}),
            "rope 0|0 medium fused\n"
            "attention 1|1 high only-one\n");
}

TEST(MatchLayer, WorkWithoutCounterpartStaysAlone) {
  EXPECT_EQ(Match({Role::kOProj}, {Role::kOProj, Role::kSort}),
            "o_proj 0|0 high only-one\n"
            "sort |1 alone no-counterpart\n");
  EXPECT_EQ(Match({}, {Role::kOProj}), "o_proj |0 alone no-counterpart\n");
}

TEST(MatchLayer, RepeatedWorkGoesByWhatIsAroundIt) {
  // B lacks the first all-reduce: its only one is A's second.
  EXPECT_EQ(Match({Role::kOProj, Role::kAllReduce, Role::kPostAttentionNorm,
                   Role::kGateUpProj, Role::kDownProj, Role::kAllReduce},
                  {Role::kOProj, Role::kPostAttentionNorm, Role::kGateUpProj,
                   Role::kDownProj, Role::kAllReduce}),
            "o_proj 0|0 high only-one\n"
            "all_reduce 1| alone no-counterpart\n"
            "post_attention_norm 2|1 high only-one\n"
            "gate_up_proj 3|2 high only-one\n"
            "down_proj 4|3 high only-one\n"
            "all_reduce 5|4 high place\n");
}

TEST(MatchLayer, SidesSwappedGiveTheSameGroups) {
  const std::vector<Role> a = {
      Role::kInputNorm, Role::kQuantize, Role::kQkvProj, Role::kRope,
      Role::kAttention, Role::kQuantize, Role::kOProj,   Role::kMemsetCopy};
  const std::vector<Role> b = {
      Role::kMemsetCopy, Role::kInputNorm, Role::kQkvProj, Role::kKvWrite,
      Role::kAttention,  Role::kQuantize,  Role::kOProj};
  const LayerMatch there = MatchLayer(OpsOf(a), OpsOf(b));
  const LayerMatch back = MatchLayer(OpsOf(b), OpsOf(a));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j)
      EXPECT_EQ(there.a[i] == there.b[j], back.b[i] == back.a[j])
          << i << " " << j;
}

std::string Outside(const std::vector<std::pair<Role, std::string>>& a,
                    const std::vector<std::pair<Role, std::string>>& b) {
  std::vector<std::vector<PlacedOp>> placed;
  std::vector<std::vector<OutsideOp>> ops(2);
  for (const auto& side : {a, b}) {
    std::vector<Role> roles;
    for (const auto& op : side) roles.push_back(op.first);
    placed.push_back(OpsOf(roles));
  }
  for (size_t i = 0; i < a.size(); ++i)
    ops[0].push_back({&placed[0][i], a[i].second});
  for (size_t i = 0; i < b.size(); ++i)
    ops[1].push_back({&placed[1][i], b[i].second});
  return TextOf(MatchOutside(ops[0], ops[1]));
}

TEST(MatchOutside, FamiliesThenRolesThenCopies) {
  EXPECT_EQ(Outside({{Role::kMemsetCopy, "copy"},
                     {Role::kEmbedding, "embed"},
                     {Role::kSampling, "argmax"},
                     {Role::kOther, "fill"}},
                    {{Role::kMemsetCopy, "memcpy"},
                     {Role::kEmbedding, "gather"},
                     {Role::kEmbedding, "cast"},
                     {Role::kSampling, "argmax"},
                     {Role::kOther, "scan"}}),
            "memset_copy 0|0 low role\n"
            "embedding 1|1,2 high only-one\n"
            "sampling 2|3 high family\n"
            "other 3| alone no-counterpart\n"
            "other |4 alone no-counterpart\n");
}

TEST(MatchOutside, ALongStretchGoesByCount) {
  const size_t n = 5000;
  const std::vector<std::pair<Role, std::string>> many(n,
                                                       {Role::kOther, "tiny"});
  const std::string text = Outside(many, {{Role::kOther, "tiny"}});
  EXPECT_EQ(text.substr(0, text.find('\n')), "other 0|0 low family");
}

}  // namespace
}  // namespace inferdiff
