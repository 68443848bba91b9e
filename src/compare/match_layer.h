// SPDX-License-Identifier: Apache-2.0
// One layer of A against one of B: which ops do the same work.
//
// Most work a layer has once, so that all ops of one role are one group,
// wherever they stand: the order within a layer is the engine's choice. What it
// has several times (copies, quantizing, all-reduces) goes by what is around
// it: the work in front and behind that both sides have once. Work that one
// side has no kernel for joins the kernel that does it, too, where it is known
// that such kernels exist: an activation inside the GEMM in front of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/alignment.h"

namespace inferdiff {

struct LayerMatch {
  struct Group {
    Role role = Role::kOther;
    MatchConfidence confidence = MatchConfidence::kAlone;
    MatchReason reason = MatchReason::kNoCounterpart;
  };
  /// By first op of A; then those without one, by first op of B.
  std::vector<Group> groups;
  std::vector<uint32_t> a, b;  // group by op
};

/// O(a + b), times the most ops of a repeated role on a side.
LayerMatch MatchLayer(std::span<const PlacedOp> a, std::span<const PlacedOp> b);

}  // namespace inferdiff
