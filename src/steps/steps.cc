// SPDX-License-Identifier: Apache-2.0
#include "steps/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "steps/assemble.h"
#include "steps/cycles.h"
#include "steps/damage.h"
#include "steps/exclude.h"
#include "steps/kernel_steps.h"
#include "steps/marker_steps.h"
#include "steps/replay_steps.h"

namespace inferdiff {
namespace {

std::string Counted(size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

Segmentation WholeTrace(const Trace& trace) {
  Segmentation out;
  out.how =
      "no markers, no graph replays and no repeating kernel sequence: the "
      "trace is taken as one step";
  out.segments.resize(1);
  out.of_op.assign(trace.ops.size(), 0);
  return out;
}

size_t WholeSegments(const std::vector<Segment>& segments) {
  return static_cast<size_t>(std::count_if(
      segments.begin(), segments.end(),
      [](const Segment& s) { return s.excluded_id != "incomplete-step"; }));
}

// Segments of `of_op` that hold a graph replay.
size_t SegmentsWithReplay(const StepInput& in, const Segmentation& steps) {
  std::vector<bool> has(steps.segments.size(), false);
  for (size_t i = 0; i < steps.of_op.size(); ++i) {
    if (in.replays.of_op[i] == kNone) continue;
    if (steps.of_op[i] < has.size()) has[steps.of_op[i]] = true;
  }
  return static_cast<size_t>(std::count(has.begin(), has.end(), true));
}

size_t SegmentsWithOps(const Segmentation& steps) {
  std::vector<bool> has(steps.segments.size(), false);
  for (const uint32_t s : steps.of_op) {
    if (s < has.size()) has[s] = true;
  }
  return static_cast<size_t>(std::count(has.begin(), has.end(), true));
}

/// The second opinion on the steps.
struct CrossCheck {
  std::string sentence;
  bool agrees = true;
};

CrossCheck CheckMarkers(const StepInput& in, const Segmentation& markers,
                        const std::optional<ReplaySteps>& replays,
                        const std::optional<Segmentation>& kernels) {
  CrossCheck check;
  if (replays) {
    const size_t marked = SegmentsWithReplay(in, markers);
    const size_t found = WholeSegments(replays->segments);
    check.agrees = marked == found;
    check.sentence =
        fmt::format("graph replays lie in {}, and the replays alone give {}",
                    Counted(marked, "marked step"), Counted(found, "step"));
    return check;
  }
  if (!kernels) return check;
  const size_t marked = SegmentsWithOps(markers);
  const size_t found = WholeSegments(kernels->segments);
  // A cut head or tail is a step to one and none to the other.
  check.agrees = std::max(marked, found) - std::min(marked, found) <= 1;
  check.sentence =
      fmt::format("the markers give {}, the kernel sequence alone {}",
                  Counted(marked, "step"), found);
  return check;
}

// A generic marker around many passes is a loop around the engine, no step.
bool UseMarkers(const MarkerSteps& markers,
                const std::optional<ReplaySteps>& replays) {
  if (!markers.steps) return false;
  if (!markers.generic || !replays) return true;
  return WholeSegments(replays->segments) < 2 * SegmentsWithOps(*markers.steps);
}

Segmentation Decide(const StepInput& in, unsigned threads, CrossCheck& check) {
  MarkerSteps markers;
  std::optional<ReplaySteps> replays = FindReplaySteps(in);
  std::optional<Segmentation> kernels;  // the answer or the second opinion
  RunBoth(
      threads, [&] { markers = FindMarkerSteps(in); },
      [&] {
        if (!replays) kernels = FindKernelSteps(in);
      });
  if (UseMarkers(markers, replays)) {
    check = CheckMarkers(in, *markers.steps, replays, kernels);
    return std::move(*markers.steps);
  }
  if (markers.steps) {
    markers.unused =
        fmt::format("{} of the profiler's schedule: each spans several steps",
                    Counted(SegmentsWithOps(*markers.steps), "marker"));
  }
  check = {markers.unused, markers.unused.empty()};
  if (replays) return SegmentationOf(in, std::move(*replays));
  if (kernels) return std::move(*kernels);
  return WholeTrace(in.trace);
}

// Other work among the steps of the main group is no outlier, and whoever
// reads the table should know of it. One sentence a kind.
void NoteOtherGroups(Steps& steps) {
  std::map<StepKind, uint32_t> others;
  for (uint32_t g = 0; g < steps.groups.size(); ++g) {
    const StepGroup& group = steps.groups[g];
    if (g != steps.main_group && group.used > 0) {
      others[group.shape.kind] += group.used;
    }
  }
  for (const auto& [kind, used] : others) {
    const StepGroup& main = steps.groups[steps.main_group];
    steps.notes.push_back(fmt::format(
        "{} of kind {} {} another shape than the {} of kind {}",
        Counted(used, "step"), IdOf(kind), used == 1 ? "has" : "have",
        main.used, IdOf(main.shape.kind)));
  }
}

Steps StepsOf(const Trace& trace, const Classification& classes,
              Replays replays, unsigned threads) {
  if (classes.of_op.size() != trace.ops.size()) {
    throw ContractError("the classification is not of this trace");
  }
  const StepInput in{trace, classes, replays};
  CrossCheck check;
  Segmentation segmentation = Decide(in, threads, check);
  const std::vector<uint8_t> drafts = std::move(segmentation.drafts);
  Steps steps;
  std::vector<Damage> damage;
  RunBoth(
      threads, [&] { steps = Assemble(in, std::move(segmentation)); },
      [&] { damage = FindDamage(in); });
  steps.damage = std::move(damage);
  steps.cross_check = std::move(check.sentence);
  steps.cross_check_agrees = check.agrees;
  const std::vector<uint64_t> work = WorkOfSteps(steps);
  GroupSteps(work, steps);
  ForgetLossesOfOtherShapes(steps);
  ExcludeDamaged(steps);
  ExcludeSteps(in, steps);
  GroupSteps(work, steps);  // again: the counts of used steps
  NoteOtherGroups(steps);
  FindCycles(in, drafts, &steps);
  steps.replay_of_op = std::move(replays.of_op);
  steps.normal_lane = std::move(replays.normal_lane);
  return steps;
}

}  // namespace

std::string_view IdOf(StepKind kind) {
  switch (kind) {
    case StepKind::kUnknown:
      return "unknown";
    case StepKind::kPrefill:
      return "prefill";
    case StepKind::kDecode:
      return "decode";
    case StepKind::kVerify:
      return "verify";
    case StepKind::kMixed:
      return "mixed";
    case StepKind::kDraft:
      return "draft";
    case StepKind::kIdle:
      return "idle";
    case StepKind::kOther:
      return "other";
  }
  return "unknown";
}

std::string_view IdOf(CycleKind kind) {
  switch (kind) {
    case CycleKind::kPlain:
      return "plain";
    case CycleKind::kSpeculative:
      return "speculative";
    case CycleKind::kNotDecode:
      return "not-decode";
    case CycleKind::kNoPass:
      return "no-pass";
    case CycleKind::kSeveral:
      return "several-passes";
    case CycleKind::kUntold:
      return "draft-untold";
    case CycleKind::kContradicted:
      return "contradicted";
    case CycleKind::kTraining:
      return "training";
  }
  return "no-pass";
}

std::string_view IdOf(Evidence evidence) {
  switch (evidence) {
    case Evidence::kMarkers:
      return "markers";
    case Evidence::kGraphReplays:
      return "graph-replays";
    case Evidence::kKernelPeriod:
      return "kernel-period";
    case Evidence::kWholeTrace:
      return "whole-trace";
  }
  return "whole-trace";
}

Steps FindSteps(const Trace& trace, const Classification& classes,
                unsigned threads) {
  return StepsOf(trace, classes, FindReplays(trace), threads);
}

ClassifiedSteps ClassifyAndFindSteps(
    const Trace& trace, const std::function<const RuleSet&()>& rules,
    unsigned threads) {
  ClassifiedSteps out;
  Replays replays;
  RunBoth(
      threads, [&] { replays = FindReplays(trace); },
      [&] { out.classes = Classify(trace, rules()); });
  out.steps = StepsOf(trace, out.classes, std::move(replays), threads);
  return out;
}

}  // namespace inferdiff
