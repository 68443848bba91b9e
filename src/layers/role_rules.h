// SPDX-License-Identifier: Apache-2.0
// The rules of rules/roles.toml. docs/roles.md describes the format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classify/pattern_list.h"
#include "classify/rule_file.h"
#include "layers/role.h"

namespace inferdiff {

/// Where in a step an op is.
///
///   prologue | input attention output feed_forward | between | ... | epilogue
///              norm  fmha      o_proj norm gate_up   final norm, head,
///              embedding qkv   reduce           act down
enum class Part : uint8_t {
  kPrologue,  // in front of the first layer
  kInput,     // of a layer, in front of its attention
  kAttention,
  kOutput,       // behind it, up to the norm or collective behind a GEMM
  kFeedForward,  // the rest of the layer
  kBetween,      // between passes
  kEpilogue,     // behind the last layer
  kCount
};
std::string_view IdOf(Part part);  // "feed_forward"

/// "end" among the categories of a condition: no op is there.
inline constexpr CategorySet kEndBit = CategorySet{1} << 31;
static_assert(kCategoryCount <= 31);

/// What holds of categories at some place: one of `in` (0: any), none of
/// `out`.
struct CategoryCondition {
  CategorySet in = 0, out = 0;
  /// Of one op there.
  bool HoldsOf(CategorySet one) const {
    return (in == 0 || (in & one) != 0) && (out & one) == 0;
  }
};

/// From where an op takes its role, where its rule does not name one.
enum class Inherits : uint8_t { kNothing, kLastGemm, kNextOp };

using Patterns = std::shared_ptr<const PatternList>;  // null: anything

struct RoleRule {
  std::string id, why;
  Role role = Role::kOther;
  Inherits inherits = Inherits::kNothing;
  CategorySet categories = 0;  // 0: any
  Patterns match, not_match;   // of the kernel's family
  Patterns attends;            // of that of one of the layer's attention ops
  uint32_t parts = 0;          // bits by Part; 0: any
  std::optional<bool> tail;    // the tail of a split GEMM
  std::optional<bool> draft;   // in a draft's pass
  std::optional<bool> latent;  // a norm between GEMMs in kInput
  /// The op just in front and behind on its lane; the nearest that does not
  /// just pass data on; any earlier and later one of the part on any lane; any
  /// of the layer.
  CategoryCondition previous, next, left, right, earlier, later, layer;
  /// Roles given to earlier ops of the part: one of them (0: any), none.
  RoleSet earlier_roles = 0, not_earlier_roles = 0;
};

struct RoleRules {
  CategorySet skips = 0;  // what `left` and `right` look past
  std::vector<RoleRule> rules;
};

/// Throws InputError "bad-rules".
RoleRules ParseRoleRules(std::string_view toml);

/// Those in the binary, parsed once.
const RoleRules& ShippedRoleRules();

}  // namespace inferdiff
