// SPDX-License-Identifier: Apache-2.0
// Where a layer's attention stands, and what is in front of and behind it.
//
//   norm qkv norm rope | attn reduce | copy o_proj | all_reduce norm gate_up
//   ... input              | attention   | output      | feed_forward
#pragma once

#include <cstdint>
#include <span>

#include "layers/layers.h"
#include "layers/role_rules.h"

namespace inferdiff {

struct LayerParts {
  uint32_t attention = 0, output = 0, feed_forward = 0;  // first op of each
  bool latent = false;  // a norm between two GEMMs in front of attention

  Part PartOf(uint32_t op) const {
    if (op < attention) return Part::kInput;
    if (op < output) return Part::kAttention;
    return op < feed_forward ? Part::kOutput : Part::kFeedForward;
  }
};

/// Where no attention is known: a store to the cache or a rotation, or an
/// unknown kernel between two GEMMs, stands for it.
LayerParts PartsOfLayer(std::span<const LayerOp> ops, const Layer& layer);

}  // namespace inferdiff
