// SPDX-License-Identifier: Apache-2.0
// Which kernels of A do what which kernels of B do, layer by layer.
//
//   A   norm  qkv        rope  store  attn  reduce   o_proj ...
//   B   norm  qkv  norm  rope_store   attn           o_proj ...
//       [1 ]  [2]  [3 ]  [4         ] [5         ]   [6   ]
//
// Works on the roles of the representative steps (layers/roles.h) and needs no
// call stacks. Every op of both steps is in exactly one group.
// docs/alignment.md explains it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {

enum class MatchConfidence : uint8_t {
  kHigh,
  kMedium,
  kLow,
  kAlone,  // no counterpart: nothing to be sure of
};
std::string_view IdOf(MatchConfidence confidence);  // "high"

/// What put the ops of a group together.
enum class MatchReason : uint8_t {
  kOnlyOne,    // a layer has this work once
  kPlace,      // work that a layer has several times, by what is around it
  kFused,      // one side has no kernel of that work: another does it, too
  kFamily,     // outside layers: kernels of one family, in order
  kRole,       // outside layers: kernels of one role, in order
  kElsewhere,  // outside layers: of one family and role, in another place
  kExtra,      // an op that its kind of layer does not have, with its role
  kNoCounterpart,
};
std::string_view IdOf(MatchReason reason);  // "only-one"

/// Ops of A and of B that do the same work, once; either may be none.
struct AlignedGroup {
  uint32_t layer_a = kNone, layer_b = kNone;  // in Layers::layers
  Role role = Role::kOther;
  MatchConfidence confidence = MatchConfidence::kAlone;
  MatchReason reason = MatchReason::kNoCounterpart;
  // Ranges of Alignment::a_ops and b_ops.
  uint32_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
};

/// Groups of one role, in layers or outside, over the two steps.
struct AlignedRow {
  Role role = Role::kOther;
  bool in_layers = false;
  struct Amounts {
    int64_t layers = 0;  // that have such a group
    int64_t ops = 0;
    int64_t attributed_ns = 0;
  };
  Amounts a = {}, b = {};
};

struct Alignment {
  /// By layer in order of A's (B's own ones where they stand), within one by
  /// first op of A, then of B; what is in no layer before, between and behind.
  std::vector<AlignedGroup> groups;
  /// Indices in StepLayers::ops, and behind them in StepLayers::loose.
  std::vector<uint32_t> a_ops, b_ops;
  /// In order of first group; those in layers first.
  std::vector<AlignedRow> rows;
  /// A sentence where layers could not be paired one by one; else empty.
  std::string doubt;
};

/// The op of an index in a_ops or b_ops.
const PlacedOp& OpAt(const StepLayers& step, uint32_t op);

/// Of the representative steps with the loose ops around them; empty where a
/// side has none. Linear in the number of ops, but for what stands outside
/// layers (compare/match_outside.h).
Alignment AlignSteps(const LedgerResult& a, const LedgerResult& b);

}  // namespace inferdiff
