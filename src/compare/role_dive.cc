// SPDX-License-Identifier: Apache-2.0
#include "compare/role_dive.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/checked.h"

namespace inferdiff {
namespace {

/// A group's kernels on one side: the families in order, and their time.
struct Kernels {
  std::vector<std::string> families;
  int64_t attributed_ns = 0;
};

Kernels KernelsOf(const LedgerResult& ledger, std::span<const uint32_t> ops) {
  Kernels kernels;
  for (const uint32_t i : ops) {
    const PlacedOp& op = OpAt(ledger.layers, i);
    const bool loose = i >= ledger.layers.ops.size();
    kernels.families.push_back(loose ? ledger.loose_kernels[op.kernel].family
                                     : ledger.kernels[op.kernel].family);
    kernels.attributed_ns = CheckedAdd(kernels.attributed_ns, op.attributed_ns);
  }
  return kernels;
}

int64_t Larger(const RoleMatch& match) {
  return std::max(match.a_ns, match.b_ns);
}

}  // namespace

RoleDive DiveIntoRole(Role role, const CompareResult& result) {
  RoleDive dive;
  dive.role = role;
  for (const auto& [side, ledger] :
       {std::pair(Side::kA, &result.a), std::pair(Side::kB, &result.b)}) {
    if (!ledger->layers.ops.empty()) continue;
    dive.not_known = fmt::format(
        "{}'s single operations are not known: it is a ledger in JSON or a "
        "published table. Name its trace, or its ledger file.",
        NameOf(side));
    return dive;
  }
  using Key =
      std::tuple<bool, std::vector<std::string>, std::vector<std::string>,
                 MatchReason, MatchConfidence>;
  std::map<Key, size_t> places;
  const Alignment& alignment = result.alignment;
  for (const AlignedGroup& group : alignment.groups) {
    if (group.role != role) continue;
    Kernels a = KernelsOf(
        result.a, std::span(alignment.a_ops)
                      .subspan(group.a_begin, group.a_end - group.a_begin));
    Kernels b = KernelsOf(
        result.b, std::span(alignment.b_ops)
                      .subspan(group.b_begin, group.b_end - group.b_begin));
    const bool in_layers = group.layer_a != kNone || group.layer_b != kNone;
    const auto [place, added] = places.try_emplace(
        {in_layers, a.families, b.families, group.reason, group.confidence},
        dive.matches.size());
    if (added) {
      dive.matches.push_back({.in_layers = in_layers,
                              .a = std::move(a.families),
                              .b = std::move(b.families),
                              .confidence = group.confidence,
                              .reason = group.reason});
    }
    RoleMatch& match = dive.matches[place->second];
    ++match.groups;
    match.a_ns = CheckedAdd(match.a_ns, a.attributed_ns);
    match.b_ns = CheckedAdd(match.b_ns, b.attributed_ns);
  }
  std::stable_sort(dive.matches.begin(), dive.matches.end(),
                   [](const RoleMatch& x, const RoleMatch& y) {
                     return Larger(y) < Larger(x);
                   });
  return dive;
}

}  // namespace inferdiff
