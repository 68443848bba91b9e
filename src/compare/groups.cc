// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "compare/compare.h"

namespace inferdiff {
namespace {

/// The group's context range; absent when the markers do not say.
std::optional<std::pair<int64_t, int64_t>> ContextOf(const StepGroup& group) {
  if (group.context_min && group.context_max)
    return std::pair{*group.context_min, *group.context_max};
  if (group.shape.context)
    return std::pair{*group.shape.context, *group.shape.context};
  return std::nullopt;
}

bool Differ(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  return a && b && *a != *b;
}

/// How many of kind, batch, tokens and context both sides state.
int FieldsInCommon(const StepGroup& a, const StepGroup& b) {
  const bool kind =
      a.shape.kind != StepKind::kUnknown && b.shape.kind != StepKind::kUnknown;
  return static_cast<int>(kind) +
         static_cast<int>(a.shape.batch && b.shape.batch) +
         static_cast<int>(a.shape.tokens && b.shape.tokens) +
         static_cast<int>(ContextOf(a) && ContextOf(b));
}

/// A file may hold as many shapes as steps; pairs are looked for among the
/// most used ones only.
constexpr size_t kMaxGroups = 512;

std::vector<uint32_t> MostUsed(const Steps& steps) {
  std::vector<uint32_t> groups;
  for (uint32_t i = 0; i < steps.groups.size(); ++i) {
    if (steps.groups[i].used > 0) groups.push_back(i);
  }
  std::stable_sort(groups.begin(), groups.end(), [&](uint32_t x, uint32_t y) {
    return steps.groups[x].used > steps.groups[y].used;
  });
  if (groups.size() > kMaxGroups) groups.resize(kMaxGroups);
  return groups;
}

}  // namespace

// Of two ranges, the middles count.
bool ContextsDiffer(const StepGroup& a, const StepGroup& b) {
  const auto context_a = ContextOf(a);
  const auto context_b = ContextOf(b);
  if (!context_a || !context_b) return false;
  // Halves first: a hostile marker may carry any number.
  const int64_t middle_a = context_a->first / 2 + context_a->second / 2;
  const int64_t middle_b = context_b->first / 2 + context_b->second / 2;
  const auto [low, high] = std::minmax(middle_a, middle_b);
  if (low < 0) return low != high;  // no context length at all
  return high - low > high / 10;
}

bool ShapesContradict(const StepGroup& a, const StepGroup& b) {
  const bool kinds_known =
      a.shape.kind != StepKind::kUnknown && b.shape.kind != StepKind::kUnknown;
  return (kinds_known && a.shape.kind != b.shape.kind) ||
         Differ(a.shape.batch, b.shape.batch) ||
         Differ(a.shape.tokens, b.shape.tokens) || ContextsDiffer(a, b);
}

GroupChoice ChooseGroups(const Steps& a, const Steps& b) {
  GroupChoice choice{a.main_group, b.main_group, false};
  // What both state counts before what only one states; then the number of
  // used steps of the smaller side, of both, and the sides' main groups.
  std::tuple<int, uint32_t, uint64_t, int> best{-1, 0, 0, 0};
  const std::vector<uint32_t> groups_b = MostUsed(b);
  for (const uint32_t i : MostUsed(a)) {
    for (const uint32_t j : groups_b) {
      const StepGroup& ga = a.groups[i];
      const StepGroup& gb = b.groups[j];
      if (ShapesContradict(ga, gb)) continue;
      const std::tuple<int, uint32_t, uint64_t, int> score{
          FieldsInCommon(ga, gb), std::min(ga.used, gb.used),
          uint64_t{ga.used} + gb.used,
          static_cast<int>(i == a.main_group) +
              static_cast<int>(j == b.main_group)};
      if (score <= best) continue;
      best = score;
      choice = {i, j, true};
    }
  }
  return choice;
}

}  // namespace inferdiff
