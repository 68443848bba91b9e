// SPDX-License-Identifier: Apache-2.0
// What stands outside layers, of A against B: inputs, embedding, head,
// sampling.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compare/match_layer.h"

namespace inferdiff {

/// An op, and the family of its kernel.
struct OutsideOp {
  const PlacedOp* op = nullptr;
  std::string_view family;
};

/// In order, one to one: kernels of one family first, then of one role that
/// says something; the embedding, the last norm and the head are one group
/// each. O(a b) up to 4,096 ops on a side; beyond, the nth of a family goes to
/// the nth, and roles are not looked at.
LayerMatch MatchOutside(std::span<const OutsideOp> a,
                        std::span<const OutsideOp> b);

}  // namespace inferdiff
