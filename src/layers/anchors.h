// SPDX-License-Identifier: Apache-2.0
// One op a layer: its main attention kernel, or what repeats instead.
//
//   norm qkv [attn reduce] o norm gate_up ACT down norm qkv [attn reduce] ...
//             ^ anchor                 ^ a feed-forward part lies between
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layers/layers.h"

namespace inferdiff {

/// Activation and experts: what attention's part of a layer does not have.
inline bool IsFeedForward(Category category) {
  return category == Category::kActivation || category == Category::kMoeGemm ||
         category == Category::kMoeRouting;
}
inline bool IsGemm(Category category) {
  return category == Category::kDenseGemm;
}
/// Another replay or a sampled token: whatever follows is another pass.
bool EndsPass(const LayerOp& before, const LayerOp& op);

/// Of each block of attention ops the one whose name is most frequent in the
/// step. Blocks are apart where a feed-forward part or the end of a pass is
/// between them. Empty without attention.
std::vector<uint32_t> AttentionAnchors(std::span<const LayerOp> ops);

/// Without attention: the name that opens the shortest stretch of kernels that
/// repeats. Empty where none does.
std::vector<uint32_t> RepeatedAnchors(std::span<const LayerOp> ops);

/// One more than the largest name.
size_t NamesOf(std::span<const LayerOp> ops);

}  // namespace inferdiff
