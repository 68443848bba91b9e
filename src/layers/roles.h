// SPDX-License-Identifier: Apache-2.0
// Layers -> the role of each op.
//
//   typical   norm        qkv       rope  attn       o       norm ...
//   role      input_norm  qkv_proj  rope  attention  o_proj post_attention_norm
//
// Rules (rules/roles.toml) decide once a slot, on the typical layer of each
// kind; its other layers take over what was decided, so that equal layers have
// equal roles. Ops without a slot and those in no layer are decided where they
// are.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "layers/layers.h"
#include "layers/role_rules.h"

namespace inferdiff {

struct RoleOfOp {
  Role role = Role::kOther;
  uint16_t rule = 0;  // index in RoleRules::rules
};

/// One an op, in the order of `ops`. `families` are the kernels' by
/// LayerOp::name. O(n log n), times the number of rules.
std::vector<RoleOfOp> FindRoles(std::span<const LayerOp> ops,
                                const Layers& layers,
                                std::span<const std::string_view> families,
                                const RoleRules& rules);

}  // namespace inferdiff
