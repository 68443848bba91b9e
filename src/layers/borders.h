// SPDX-License-Identifier: Apache-2.0
// Anchors -> where each layer begins and ends.
//
//   ... attn o norm gate_up ACT down | norm qkv attn o norm ...   within a pass
//   ... attn o norm gate_up ACT down | norm head SAMPLE embed | norm qkv attn
//                                    end                      begin
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layers/layers.h"

namespace inferdiff {

struct Borders {
  std::vector<Layer> layers;  // begin, end and pass are set
  /// Norms in front of the attention marked the borders; otherwise it is what
  /// the first layer has in front of it and the others, too.
  bool by_norm = false;
};

/// Layers around attention anchors. The first norm behind a feed-forward part
/// opens a layer; of several in a row (a norm of the output before the next
/// input's) the last. The first layer of a pass has no feed-forward part in
/// front of it: it begins as many norms before its anchor as the others do.
Borders AttentionBorders(std::span<const LayerOp> ops,
                         const std::vector<uint32_t>& anchors);

/// Layers that begin with their anchors; the last is as long as most are.
Borders RepeatedBorders(size_t ops, const std::vector<uint32_t>& anchors);

}  // namespace inferdiff
