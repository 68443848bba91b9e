// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/checked.h"
#include "steps/assemble.h"

namespace inferdiff {
namespace {

using Key = std::tuple<StepKind, std::optional<int64_t>, std::optional<int64_t>,
                       uint64_t, bool>;

Key KeyOf(const Step& step, uint64_t work) {
  return {step.shape.kind, step.shape.batch, step.shape.tokens, work,
          step.shape.context.has_value()};
}

// Contexts within 10 % of the group's smallest.
bool Within(int64_t smallest, int64_t context) {
  return SaturatingSub(context, smallest) <= smallest / 10;
}

/// Sorted so that one pass finds the groups: by shape, then by context.
std::vector<uint32_t> SortByShape(const std::vector<Step>& steps,
                                  const std::vector<uint64_t>& work) {
  std::vector<uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Key x = KeyOf(steps[a], work[a]), y = KeyOf(steps[b], work[b]);
    if (x != y) return x < y;
    return steps[a].shape.context < steps[b].shape.context;
  });
  return order;
}

void Count(Step& step, StepGroup& group) {
  ++group.steps;
  if (step.excluded_id.empty()) ++group.used;
  if (!step.shape.context) return;
  const int64_t context = *step.shape.context;
  if (!group.context_min) group.context_min = group.context_max = context;
  group.context_min = std::min(*group.context_min, context);
  group.context_max = std::max(*group.context_max, context);
}

// By first step, so that a group's number tells something.
void NumberByTime(Steps& steps) {
  std::vector<uint32_t> number(steps.groups.size(), kNone);
  std::vector<StepGroup> sorted;
  for (Step& step : steps.steps) {
    if (number[step.group] == kNone) {
      number[step.group] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(steps.groups[step.group]);
    }
    step.group = number[step.group];
  }
  steps.groups = std::move(sorted);
}

uint32_t MainGroup(const Steps& steps) {
  std::vector<int64_t> wall(steps.groups.size(), 0);
  for (const Step& step : steps.steps) {
    if (!step.excluded_id.empty() || !step.next_begin_ns) continue;
    wall[step.group] = SaturatingAdd(
        wall[step.group], SaturatingSub(*step.next_begin_ns, step.begin_ns));
  }
  uint32_t best = 0;
  for (uint32_t g = 1; g < steps.groups.size(); ++g) {
    const auto rank = [&](uint32_t i) {
      return std::tuple(steps.groups[i].used > 0, wall[i]);
    };
    if (rank(g) > rank(best)) best = g;
  }
  return best;
}

}  // namespace

void GroupSteps(const std::vector<uint64_t>& work, Steps& steps) {
  steps.groups.clear();
  const std::vector<uint32_t> order = SortByShape(steps.steps, work);
  for (size_t i = 0; i < order.size(); ++i) {
    Step& step = steps.steps[order[i]];
    const bool same =
        i > 0 &&
        KeyOf(steps.steps[order[i - 1]], work[order[i - 1]]) ==
            KeyOf(step, work[order[i]]) &&
        (!step.shape.context ||
         Within(*steps.groups.back().context_min, *step.shape.context));
    if (!same) {
      steps.groups.emplace_back();
      steps.groups.back().shape = step.shape;
    }
    step.group = static_cast<uint32_t>(steps.groups.size() - 1);
    Count(step, steps.groups.back());
  }
  for (StepGroup& group : steps.groups) {
    if (group.context_min != group.context_max) group.shape.context.reset();
  }
  NumberByTime(steps);
  steps.main_group = MainGroup(steps);
}

}  // namespace inferdiff
