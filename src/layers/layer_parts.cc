// SPDX-License-Identifier: Apache-2.0
#include "layers/layer_parts.h"

#include "layers/anchors.h"

namespace inferdiff {
namespace {

bool IsAttention(Category category) { return category == Category::kAttention; }
bool IsWork(const LayerOp& op) { return IsGemm(op.category) && !op.tail; }

/// What never belongs to attention.
bool IsBehind(Category category) {
  return IsFeedForward(category) || category == Category::kMoeQuantAct;
}
/// What, behind the output projection, does not belong to attention any more.
bool EndsOutput(Category category) {
  return category == Category::kNorm || category == Category::kCommunication;
}

/// A half-open range of ops; empty: between two of them.
struct Block {
  uint32_t begin = kNone, end = kNone;
};

/// Attention in front of the first GEMM is metadata, unless there is no other.
uint32_t FirstAttention(std::span<const LayerOp> ops, const Layer& layer) {
  uint32_t first = kNone;
  bool projected = false;
  for (uint32_t i = layer.begin; i < layer.end; ++i) {
    projected |= IsWork(ops[i]);
    if (!IsAttention(ops[i].category)) continue;
    if (first == kNone) first = i;
    if (projected) return i;
  }
  return first;
}

Block AttentionBlock(std::span<const LayerOp> ops, const Layer& layer) {
  Block block;
  block.begin = FirstAttention(ops, layer);
  if (block.begin == kNone) return block;
  bool projected = false;
  for (uint32_t i = block.begin; i < layer.end; ++i) {
    const Category category = ops[i].category;
    if (IsAttention(category)) {
      block.end = i + 1;
      projected = false;
    }
    projected |= IsWork(ops[i]);
    if (IsBehind(category) || (projected && EndsOutput(category))) break;
  }
  return block;
}

/// For want of known attention.
Block StandIn(std::span<const LayerOp> ops, const Layer& layer) {
  Block block;
  uint32_t unknown = kNone;  // the last behind a GEMM
  bool projected = false;
  for (uint32_t i = layer.begin; i < layer.end; ++i) {
    const Category category = ops[i].category;
    if (IsBehind(category)) break;
    if (category == Category::kKvCacheWrite || category == Category::kRope)
      block = {i + 1, i + 1};
    if (category == Category::kUnclassified && projected) unknown = i;
    if (IsWork(ops[i]) && unknown != kNone) break;
    projected |= IsWork(ops[i]);
  }
  if (unknown != kNone) return {unknown, unknown + 1};
  return block;
}

uint32_t FeedForward(std::span<const LayerOp> ops, uint32_t from, uint32_t to) {
  bool projected = false;
  for (uint32_t i = from; i < to; ++i) {
    const Category category = ops[i].category;
    if (IsBehind(category) || (projected && EndsOutput(category))) return i;
    // A collective may have the output projection fused into it.
    projected |= IsWork(ops[i]) || category == Category::kCommunication;
  }
  return to;
}

/// A latent norm: GEMMs are in front of it and behind it.
bool HasLatentNorm(std::span<const LayerOp> ops, uint32_t from, uint32_t to) {
  bool projected = false, normed = false;
  for (uint32_t i = from; i < to; ++i) {
    if (IsWork(ops[i]) && normed) return true;
    projected |= IsWork(ops[i]);
    normed |= projected && ops[i].category == Category::kNorm;
  }
  return false;
}

}  // namespace

LayerParts PartsOfLayer(std::span<const LayerOp> ops, const Layer& layer) {
  Block block = AttentionBlock(ops, layer);
  if (block.begin == kNone) block = StandIn(ops, layer);
  if (block.begin == kNone) block = {layer.begin, layer.begin};
  LayerParts parts;
  parts.attention = block.begin;
  parts.output = block.end;
  parts.feed_forward = FeedForward(ops, block.end, layer.end);
  parts.latent = HasLatentNorm(ops, layer.begin, block.begin);
  return parts;
}

}  // namespace inferdiff
