// SPDX-License-Identifier: Apache-2.0
// The repeated layers of one step: which op belongs to which, at what place.
//
//   [embed][norm qkv attn o norm gate_up act down][norm qkv attn ..][norm head]
//   prologue |<----------- layer 0, kind A ----->|<- layer 1 ... ->| epilogue
//
// A layer has one block of attention and begins at the norm in front of it.
// That is the same on every platform: a norm fused with the residual add of
// the layer before opens a layer, an all-reduce fused with a norm ends one.
// docs/layers.md explains it for users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "classify/category.h"
#include "model/trace.h"

namespace inferdiff {

/// An op as far as layers go. A step's ops come in order of start.
struct LayerOp {
  uint32_t name = 0;  // of its kernel; memory goes with the largest number
  Category category = Category::kUnclassified;
  uint32_t replay = kNone;  // graph replay, any numbering; kNone: eager
  // Of interest for roles only.
  uint32_t lane = 0;  // any numbering
  bool tail = false;  // adds up what the split GEMM in front of it left
};

/// What told the layers apart, strongest first.
enum class LayerBasis : uint8_t {
  kAttention,   // one block of attention a layer
  kRepetition,  // no attention is known; a stretch of kernels repeats
  kNothing,     // nothing repeats and nothing looks like a layer
};
std::string_view IdOf(LayerBasis basis);  // "attention"

enum class LayerConfidence : uint8_t { kHigh, kMedium, kLow, kUnfounded };
std::string_view IdOf(LayerConfidence confidence);  // "high"

/// Layers of the same ops. Slot i of a kind is op i of its typical layer.
struct LayerKind {
  uint32_t layers = 0;
  uint32_t typical = 0;  // index in Layers::layers
  uint32_t ops = 0;      // slots
};
/// "A", "B" ... "Z", "AA" ...
std::string NameOfKind(size_t kind);

/// A range of a step's ops.
struct Layer {
  uint32_t begin = 0, end = 0;  // index of first op, and behind the last
  uint32_t kind = 0;            // index in Layers::kinds
  uint32_t pass = 0;
  uint32_t extra = 0;    // ops that its kind does not have
  uint32_t missing = 0;  // slots that it has no op for
};

/// A run of layers with nothing between: a draft, a verification.
struct LayerPass {
  uint32_t first = 0;   // index in Layers::layers
  uint32_t layers = 0;  // at least 1
};

struct Layers {
  LayerBasis basis = LayerBasis::kNothing;
  LayerConfidence confidence = LayerConfidence::kUnfounded;
  /// Sentences without a period at the end: what was found; why, or why not.
  std::string evidence, how;
  std::vector<Layer> layers;     // in order
  std::vector<LayerKind> kinds;  // in order of their first layers
  std::vector<LayerPass> passes;
  std::vector<uint32_t> layer_of_op;  // index in `layers`; kNone: in none
  std::vector<uint32_t> slot_of_op;   // kNone: an op its kind does not have
  /// Ops in front of the first layer, behind the last, between passes.
  uint32_t prologue_ops = 0, epilogue_ops = 0, between_ops = 0;
  /// Ops of all layers, and those of them that another layer has in the same
  /// slot of the same kind.
  uint32_t layer_ops = 0, alike_ops = 0;
};

/// O(n log n) in the number of ops, whatever they are.
Layers FindLayers(std::span<const LayerOp> ops);

}  // namespace inferdiff
