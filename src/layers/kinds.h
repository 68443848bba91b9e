// SPDX-License-Identifier: Apache-2.0
// Layers -> kinds, and the slot of each op among its kind's.
//
//   typical   norm qkv  rope attn  o    norm ...   of the kind's layers the one
//   slot      0    1    2    3     4    5          that most others equal
//   layer 0   norm'qkv  attn rope  o    norm ...   norm' is another kernel in
//   slot      0    1    3    2     4    5          the place of slot 0
#pragma once

#include <span>

#include "layers/layers.h"

namespace inferdiff {

/// Fills Layers::kinds and what hangs on them in `layers`, and slot_of_op.
/// Layers of the same kernels, in whatever order lanes started them, are of one
/// kind. A layer that no other equals joins the kind that it differs from in a
/// quarter of its ops or less; so do few layers that differ in no attention.
void FindKinds(std::span<const LayerOp> ops, Layers* layers);

}  // namespace inferdiff
