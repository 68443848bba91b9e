// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_find.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/options.h"
#include "ledger/step_layers.h"

namespace inferdiff {
namespace {

using Placed = std::map<uint64_t, RoleOfOp>;  // by ordinal

/// Of the representative step.
struct StepRoles {
  uint32_t step = kNone;
  Placed of_ordinal;
};

StepRoles RolesOf(const LoadedTrace& loaded, const RuleSet& rules) {
  StepRoles out;
  out.step =
      RepresentativeStep(loaded.trace(), loaded.steps, loaded.steps.main_group);
  if (out.step == kNone) return out;
  const StepLayers layers = LayersOfStep(loaded.trace(), loaded.classes, rules,
                                         loaded.steps, out.step);
  for (const PlacedOp& op : layers.ops)
    out.of_ordinal.emplace(op.ordinal, op.role);
  return out;
}

/// What each kernel's ops do: (role, rule) -> how many.
using UsesByRole = std::map<std::pair<Role, uint16_t>, int64_t>;

std::vector<RoleUse> RoleUses(const UsesByRole& uses, uint32_t step) {
  std::vector<RoleUse> out;
  for (const auto& [use, ops] : uses) {
    const RoleRule& rule = ShippedRoleRules().rules[use.second];
    out.push_back({use.first, rule.id, rule.why, step, ops});
  }
  std::stable_sort(
      out.begin(), out.end(),
      [](const RoleUse& a, const RoleUse& b) { return a.ops > b.ops; });
  return out;
}

struct Use {
  int64_t ops = 0;
  int64_t sum_ns = 0;
};
using UsesByRule = std::map<RuleId, Use>;

bool IsExact(std::string_view pattern, std::string_view raw,
             const NameClass& name) {
  return MatchesPattern(pattern, raw) ||
         MatchesPattern(pattern, name.display) ||
         MatchesPattern(pattern, name.family);
}

KernelExplanation Explain(const NameClass& name, const UsesByRule& uses,
                          const RuleSet& rules) {
  KernelExplanation kernel{name.display, name.family, {}, {}};
  for (const auto& [rule, use] : uses) {
    const RuleInfo& info = rules.rules()[rule];
    kernel.rules.push_back({info.id, info.why, info.library, info.category,
                            info.context, use.ops, use.sum_ns});
  }
  std::stable_sort(
      kernel.rules.begin(), kernel.rules.end(),
      [](const RuleUse& a, const RuleUse& b) { return a.ops > b.ops; });
  return kernel;
}

int64_t TimeOf(const KernelExplanation& kernel) {
  int64_t sum_ns = 0;
  for (const RuleUse& use : kernel.rules) sum_ns += use.sum_ns;
  return sum_ns;
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  // Greedy with one point of return: linear in practice, quadratic at worst.
  size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
  const auto wildcard = [&]() -> size_t {
    if (pattern.substr(p).starts_with('*')) return 1;
    return pattern.substr(p).starts_with(kEllipsis) ? kEllipsis.size() : 0;
  };
  while (n < name.size()) {
    if (const size_t bytes = wildcard(); bytes > 0) {
      p += bytes;
      star = p;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (const size_t bytes = wildcard()) p += bytes;
  return p == pattern.size();
}

std::vector<KernelExplanation> FindKernels(const LoadedTrace& loaded,
                                           const RuleSet& rules,
                                           const std::string& pattern) {
  const Trace& trace = loaded.trace();
  const GpuOps& ops = trace.ops;
  const StepRoles roles = RolesOf(loaded, rules);
  std::map<NameId, UsesByRole> roles_of;
  std::map<NameId, UsesByRule> used;
  for (size_t i = 0; i < ops.size(); ++i) {
    Use& use = used[ops.name[i]][loaded.classes.rule_of_op[i]];
    ++use.ops;
    use.sum_ns += ops.dur_ns[i];
    const auto role = roles.of_ordinal.find(ops.ordinal[i]);
    if (role != roles.of_ordinal.end())
      ++roles_of[ops.name[i]][{role->second.role, role->second.rule}];
  }
  const std::string anywhere = "*" + pattern + "*";
  std::vector<KernelExplanation> exact, containing;
  for (const auto& [id, uses] : used) {
    const std::string_view raw = (*trace.names)[id];
    const NameClass& name = loaded.classes.names[id];
    const bool is_exact = IsExact(pattern, raw, name);
    if (!is_exact && !MatchesPattern(anywhere, raw) &&
        !MatchesPattern(anywhere, name.display))
      continue;
    auto& list = is_exact ? exact : containing;
    list.push_back(Explain(name, uses, rules));
    list.back().roles = RoleUses(roles_of[id], roles.step);
  }
  auto& found = exact.empty() ? containing : exact;
  std::stable_sort(found.begin(), found.end(),
                   [](const KernelExplanation& a, const KernelExplanation& b) {
                     return TimeOf(a) > TimeOf(b);
                   });
  return found;
}

StepExplanation FindStep(const LoadedTrace& loaded, const RuleSet& rules,
                         int64_t number) {
  const Steps& steps = loaded.steps;
  if (number >= static_cast<int64_t>(steps.steps.size())) {
    FailUsage(fmt::format("there is no step {}: the trace has {}", number,
                          steps.steps.size()),
              "`inferdiff steps TRACE` lists them, numbered from 0");
  }
  const Trace& trace = loaded.trace();
  StepExplanation found;
  found.number = static_cast<uint32_t>(number);
  found.step = steps.steps[found.number];
  if (found.step.group < steps.groups.size())
    found.shape = steps.groups[found.step.group].shape;
  found.evidence = IdOf(steps.evidence);
  found.how = steps.how;
  found.cross_check = steps.cross_check;
  if (found.step.forward_lane < trace.lanes.size())
    found.lane = trace.lanes[found.step.forward_lane].label;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const OpReference op{trace.ops.ordinal[i], trace.ops.start_ns[i],
                         std::string((*trace.names)[trace.ops.name[i]])};
    const bool own = steps.step_of_op[i] == found.number;
    const bool forward = trace.ops.lane[i] == found.step.forward_lane;
    if (own && forward && !found.first && op.start_ns == found.step.begin_ns)
      found.first = op;
    if (!own && !found.next && found.step.next_begin_ns == op.start_ns &&
        steps.step_of_op[i] == found.number + 1) {
      found.next = op;
    }
    found.ops += own ? 1 : 0;
    found.replay_ops += own && steps.replay_of_op[i] != kNone ? 1 : 0;
  }
  for (const Replay& replay : steps.replays)
    found.replays += replay.step == found.number ? 1 : 0;
  found.layers =
      LayersOfStep(trace, loaded.classes, rules, steps, found.number);
  return found;
}

}  // namespace inferdiff
