// SPDX-License-Identifier: Apache-2.0
// What a GPU op does, in the words of design and docs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace inferdiff {

// The order is the order in tables of equal size. X(constant, id, title).
#define INFERDIFF_CATEGORIES(X)                                       \
  X(kCommunication, "communication", "communication")                 \
  X(kMoeGemm, "moe_gemm", "MoE expert GEMM")                          \
  X(kMoeRouting, "moe_routing", "MoE routing")                        \
  X(kMoeQuantAct, "moe_quant_act", "MoE quant + act")                 \
  X(kAttention, "attention", "attention")                             \
  X(kAttentionIndexer, "attention_indexer", "attn indexer")           \
  X(kKvCacheWrite, "kv_cache_write", "KV cache write")                \
  X(kDenseGemm, "dense_gemm", "dense GEMM")                           \
  X(kQuantization, "quantization", "quantization")                    \
  X(kNorm, "norm", "norm")                                            \
  X(kRope, "rope", "RoPE")                                            \
  X(kActivation, "activation", "activation")                          \
  X(kElementwiseMemory, "elementwise_memory", "elementwise + memory") \
  X(kSampling, "sampling", "sampling")                                \
  X(kSpeculativeDraft, "speculative_draft", "speculative draft")      \
  X(kMhc, "mhc", "mHC")                                               \
  X(kMemcpy, "memcpy", "memcpy")                                      \
  X(kMemset, "memset", "memset")                                      \
  X(kOther, "other", "other")                                         \
  X(kUnclassified, "unclassified", "unclassified")

enum class Category : uint8_t {
#define X(constant, id, title) constant,
  INFERDIFF_CATEGORIES(X)
#undef X
      kCount
};
inline constexpr size_t kCategoryCount = static_cast<size_t>(Category::kCount);

std::string_view IdOf(Category category);     // "moe_gemm"
std::string_view TitleOf(Category category);  // "MoE expert GEMM"
std::optional<Category> CategoryFromId(std::string_view id);
/// By id or title, as people type them.
std::optional<Category> CategoryFromName(std::string_view name);

}  // namespace inferdiff
