// SPDX-License-Identifier: Apache-2.0
#include "ledger/left_out.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "ledger/rank_sentences.h"

namespace inferdiff {
namespace {

constexpr size_t kMaxNamed = 6;
constexpr const char* kOtherShape = "other-group";

bool SameShape(const StepShape& a, const StepShape& b) {
  return a.kind == b.kind && a.batch == b.batch && a.tokens == b.tokens &&
         a.context == b.context;
}

std::string GroupText(const StepGroup& group) {
  std::string text = ShapeText(group.shape);
  if (group.context_min && group.context_max && !group.shape.context) {
    text += fmt::format(", context {} to {}", Grouped(*group.context_min),
                        Grouped(*group.context_max));
  }
  return text;
}

/// Steps without markers are told apart by what they run.
std::string WhyOther(const StepGroup& other, const StepGroup& accounted) {
  if (SameShape(other.shape, accounted.shape) &&
      other.context_min == accounted.context_min)
    return "another graph or other kernels than the accounted steps";
  return "another shape: " + GroupText(other);
}

/// By step: its number, in its own rank where there are several.
std::vector<std::string> StepNames(const std::vector<Step>& steps,
                                   const std::vector<RankRow>& ranks) {
  std::vector<std::string> names;
  uint32_t first = 0;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (ranks.empty()) {
      names.push_back(std::to_string(i));
      continue;
    }
    if (steps[i].rank != steps[first].rank) first = i;
    names.push_back(
        fmt::format("{} of {}", i - first, NameOf(ranks[steps[i].rank])));
  }
  return names;
}

}  // namespace

std::string ShapeText(const StepShape& shape) {
  std::string text = shape.kind == StepKind::kUnknown ? "steps of unknown kind"
                     : shape.kind == StepKind::kOther
                         ? "marked steps"
                         : std::string(IdOf(shape.kind));
  if (shape.batch) text += fmt::format(", batch {}", Grouped(*shape.batch));
  if (shape.tokens) text += ", " + Plural(*shape.tokens, "token");
  if (shape.context) {
    // The sum over the sequences, as the marker counts it.
    text += fmt::format(", context {}{}", Grouped(*shape.context),
                        shape.batch && *shape.batch > 1 ? " in all" : "");
  }
  return text;
}

std::vector<LeftOutStep> LeftOutSteps(const Steps& steps, uint32_t group) {
  std::vector<LeftOutStep> out;
  for (uint32_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (!step.excluded_id.empty()) {
      out.push_back({i, step.excluded_id, step.excluded_why});
    } else if (step.group != group) {
      out.push_back({i, kOtherShape,
                     WhyOther(steps.groups[step.group], steps.groups[group])});
    }
  }
  return out;
}

std::vector<LeftOutReason> LeftOutReasons(const Steps& steps, uint32_t group,
                                          const std::vector<RankRow>& ranks) {
  const std::vector<std::string> names = StepNames(steps.steps, ranks);
  std::vector<LeftOutReason> reasons;  // few: ids are ours
  std::vector<std::string> shapes;
  for (LeftOutStep& step : LeftOutSteps(steps, group)) {
    auto found = std::find_if(
        reasons.begin(), reasons.end(),
        [&](const LeftOutReason& reason) { return reason.id == step.id; });
    if (step.id == kOtherShape && shapes.size() <= kMaxNamed &&
        std::count(shapes.begin(), shapes.end(), step.why) == 0)
      shapes.push_back(step.why);
    if (found == reasons.end()) {
      reasons.push_back({step.id, std::move(step.why), {}});
      found = reasons.end() - 1;
    }
    found->steps.push_back(names[step.step]);
  }
  for (LeftOutReason& reason : reasons) {
    if (reason.id != kOtherShape) continue;
    for (size_t i = 1; i < std::min(shapes.size(), kMaxNamed); ++i)
      reason.why += "; " + shapes[i];
    if (shapes.size() > kMaxNamed) reason.why += fmt::format("; {}", kEllipsis);
  }
  return reasons;
}

std::string LeftOutText(const LeftOutReason& reason, std::string_view of) {
  std::string which;
  for (size_t i = 0; i < std::min(reason.steps.size(), kMaxNamed); ++i)
    which += fmt::format("{}{}", i == 0 ? "" : ", ", reason.steps[i]);
  if (reason.steps.size() > kMaxNamed) which += fmt::format(", {}", kEllipsis);
  return fmt::format("{}{}{} left out (step{} {}): {}.",
                     Plural(static_cast<int64_t>(reason.steps.size()), "step"),
                     of.empty() ? "" : " of ", of,
                     reason.steps.size() == 1 ? "" : "s", which, reason.why);
}

}  // namespace inferdiff
