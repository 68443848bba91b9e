// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

/// A step's key and number, sorted so that one pass finds the groups.
struct Keyed {
  Key key;
  std::optional<int64_t> context;
  uint32_t step = 0;
};

std::vector<Keyed> SortByShape(const std::vector<Step>& steps,
                               const std::vector<uint64_t>& work) {
  std::vector<Keyed> out(steps.size());
  for (uint32_t k = 0; k < steps.size(); ++k) {
    out[k] = {KeyOf(steps[k], work[k]), steps[k].shape.context, k};
  }
  std::sort(out.begin(), out.end(), [](const Keyed& a, const Keyed& b) {
    return std::tie(a.key, a.context, a.step) <
           std::tie(b.key, b.context, b.step);
  });
  return out;
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
  const Keyed* before = nullptr;
  const std::vector<Keyed> sorted = SortByShape(steps.steps, work);
  for (const Keyed& keyed : sorted) {
    const bool same =
        before != nullptr && before->key == keyed.key &&
        (!keyed.context ||
         Within(*steps.groups.back().context_min, *keyed.context));
    Step& step = steps.steps[keyed.step];
    if (!same) {
      steps.groups.emplace_back();
      steps.groups.back().shape = step.shape;
    }
    step.group = static_cast<uint32_t>(steps.groups.size() - 1);
    Count(step, steps.groups.back());
    before = &keyed;
  }
  for (StepGroup& group : steps.groups) {
    if (group.context_min != group.context_max) group.shape.context.reset();
  }
  NumberByTime(steps);
  steps.main_group = MainGroup(steps);
}

}  // namespace inferdiff
