// SPDX-License-Identifier: Apache-2.0
// What an op does in its layer. docs/roles.md explains each word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace inferdiff {

// Roughly the order in a layer. X(constant, id).
#define INFERDIFF_ROLES(X)                     \
  X(kEmbedding, "embedding")                   \
  X(kInputNorm, "input_norm")                  \
  X(kQkvProj, "qkv_proj")                      \
  X(kQAKvAProj, "q_a_kv_a_proj")               \
  X(kQAProj, "q_a_proj")                       \
  X(kKvAProj, "kv_a_proj")                     \
  X(kQkNorm, "qk_norm")                        \
  X(kQBProj, "q_b_proj")                       \
  X(kKvBProj, "kv_b_proj")                     \
  X(kAbsorb, "absorb")                         \
  X(kRope, "rope")                             \
  X(kKvWrite, "kv_write")                      \
  X(kIndexer, "indexer")                       \
  X(kAttentionMetadata, "attention_metadata")  \
  X(kAttention, "attention")                   \
  X(kAttentionCombine, "attention_combine")    \
  X(kOProj, "o_proj")                          \
  X(kAllReduce, "all_reduce")                  \
  X(kResidualAdd, "residual_add")              \
  X(kPostAttentionNorm, "post_attention_norm") \
  X(kGateUpProj, "gate_up_proj")               \
  X(kActivation, "activation")                 \
  X(kDownProj, "down_proj")                    \
  X(kRouter, "router")                         \
  X(kTopK, "top_k")                            \
  X(kSort, "sort")                             \
  X(kQuantize, "quantize")                     \
  X(kDispatch, "dispatch")                     \
  X(kExpertGemm1, "expert_gemm_1")             \
  X(kExpertActivation, "expert_activation")    \
  X(kExpertGemm2, "expert_gemm_2")             \
  X(kFinalize, "finalize")                     \
  X(kCombine, "combine")                       \
  X(kSharedExpert, "shared_expert")            \
  X(kMhc, "mhc")                               \
  X(kDraft, "draft")                           \
  X(kFinalNorm, "final_norm")                  \
  X(kLmHead, "lm_head")                        \
  X(kSampling, "sampling")                     \
  X(kMemsetCopy, "memset_copy")                \
  X(kOther, "other")

enum class Role : uint8_t {
#define X(constant, id) constant,
  INFERDIFF_ROLES(X)
#undef X
      kCount
};
inline constexpr size_t kRoleCount = static_cast<size_t>(Role::kCount);

std::string_view IdOf(Role role);  // "expert_gemm_1"
std::optional<Role> RoleFromId(std::string_view id);

/// A set of roles, one bit each.
using RoleSet = uint64_t;
inline constexpr RoleSet SetOf(Role role) {
  return RoleSet{1} << static_cast<unsigned>(role);
}
static_assert(kRoleCount <= 64);

}  // namespace inferdiff
