// SPDX-License-Identifier: Apache-2.0
#include "steps/assemble.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace inferdiff {
namespace {

/// One segment's ops, as far as they are known.
struct Extent {
  uint32_t ops = 0;
  uint32_t largest_replay = kNone;
  uint32_t lane = kNone;  // the forward lane
  int64_t begin_ns = 0;   // first op on it
};

// The lane with most busy time of each segment without a replay. Collectives
// do not count beside other work: a lane that only waits for other ranks would
// win. Durations stand for the union: on one lane ops hardly overlap.
void FindBusiestLanes(const StepInput& in, const std::vector<uint32_t>& of_op,
                      std::vector<Extent>& extents) {
  std::vector<uint32_t> first(extents.size() + 1, 0);
  for (const uint32_t s : of_op) {
    if (s < extents.size()) ++first[s + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> ops(first.back());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (uint32_t i = 0; i < of_op.size(); ++i) {
    if (of_op[i] < extents.size()) ops[next[of_op[i]]++] = i;
  }
  std::vector<int64_t> busy(in.trace.lanes.size(), 0);
  for (size_t s = 0; s < extents.size(); ++s) {
    if (extents[s].largest_replay != kNone) continue;
    int64_t most = -1;
    const auto collective = [&](uint32_t op) {
      return in.classes.of_op[op] == Category::kCommunication;
    };
    const bool only_collectives = std::all_of(
        ops.begin() + first[s], ops.begin() + first[s + 1], collective);
    for (uint32_t k = first[s]; k < first[s + 1]; ++k) {
      if (collective(ops[k]) && !only_collectives) continue;
      int64_t& sum = busy[in.trace.ops.lane[ops[k]]];
      sum = SaturatingAdd(sum, in.trace.ops.dur_ns[ops[k]]);
    }
    for (uint32_t k = first[s]; k < first[s + 1]; ++k) {
      const uint32_t lane = in.trace.ops.lane[ops[k]];
      if (busy[lane] <= most) continue;
      most = busy[lane];
      extents[s].lane = lane;
    }
    for (uint32_t k = first[s]; k < first[s + 1]; ++k) {
      busy[in.trace.ops.lane[ops[k]]] = 0;
    }
  }
}

std::vector<Extent> MeasureExtents(const StepInput& in,
                                   const std::vector<uint32_t>& of_op,
                                   size_t segments) {
  std::vector<Extent> extents(segments);
  for (uint32_t i = 0; i < of_op.size(); ++i) {
    if (of_op[i] >= segments) continue;
    Extent& extent = extents[of_op[i]];
    ++extent.ops;
    const uint32_t replay = in.replays.of_op[i];
    if (replay == kNone) continue;
    if (extent.largest_replay == kNone ||
        in.replays.list[replay].ops >
            in.replays.list[extent.largest_replay].ops) {
      extent.largest_replay = replay;
    }
  }
  const auto has_replay = [](const Extent& extent) {
    return extent.ops == 0 || extent.largest_replay != kNone;
  };
  if (!std::all_of(extents.begin(), extents.end(), has_replay)) {
    FindBusiestLanes(in, of_op, extents);
  }
  for (Extent& extent : extents) {
    if (extent.largest_replay == kNone) continue;
    extent.lane = in.replays.list[extent.largest_replay].main_lane;
  }
  for (uint32_t i = static_cast<uint32_t>(of_op.size()); i-- > 0;) {
    if (of_op[i] >= segments) continue;
    Extent& extent = extents[of_op[i]];
    if (extent.lane == in.trace.ops.lane[i]) {
      extent.begin_ns = in.trace.ops.start_ns[i];
    }
  }
  return extents;
}

// Segments with ops, by begin; equal begins keep their host order.
std::vector<uint32_t> OrderOf(const std::vector<Extent>& extents) {
  std::vector<uint32_t> order;
  for (uint32_t s = 0; s < extents.size(); ++s) {
    if (extents[s].ops > 0) order.push_back(s);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return extents[a].begin_ns < extents[b].begin_ns;
  });
  return order;
}

// Gives kByTime ops to the segment in whose borders they start; a replay goes
// as a whole. What starts before the first border stays undecided.
void AssignByTime(const StepInput& in, const std::vector<Extent>& extents,
                  const std::vector<uint32_t>& order,
                  std::vector<uint32_t>& of_op) {
  if (order.empty()) return;
  std::vector<int64_t> begins;
  for (const uint32_t s : order) begins.push_back(extents[s].begin_ns);
  for (uint32_t i = 0; i < of_op.size(); ++i) {
    if (of_op[i] != kByTime) continue;
    const uint32_t replay = in.replays.of_op[i];
    const int64_t at = replay == kNone ? in.trace.ops.start_ns[i]
                                       : in.replays.list[replay].begin_ns;
    const auto after = std::upper_bound(begins.begin(), begins.end(), at);
    if (after == begins.begin()) continue;
    of_op[i] = order[static_cast<size_t>(after - begins.begin() - 1)];
  }
}

// Work in front of the first border without a launch record was launched
// before the window: the rest of a step, which gets a place and a name of its
// own so that it is not mistaken for another step's.
void AddHeadStep(const StepInput& in, const std::vector<uint32_t>& order,
                 Segmentation& segmentation) {
  if (order.empty()) return;
  constexpr size_t kFew = 10;  // stray copies and fills are nobody's
  const auto undecided =
      std::count(segmentation.of_op.begin(), segmentation.of_op.end(), kByTime);
  if (static_cast<size_t>(undecided) < kFew) return;
  const auto head = static_cast<uint32_t>(segmentation.segments.size());
  Segment segment;
  segment.excluded_id = "head-cut";
  segment.excluded_why = "it was launched before the trace begins";
  segmentation.segments.push_back(std::move(segment));
  for (uint32_t i = 0; i < in.trace.ops.size(); ++i) {
    if (segmentation.of_op[i] == kByTime) segmentation.of_op[i] = head;
  }
}

Step MakeStep(const Extent& extent, Segment& segment) {
  Step step;
  step.shape = segment.shape;
  step.marker = std::move(segment.marker);
  step.forward_lane = extent.lane;
  step.begin_ns = extent.begin_ns;
  step.ops = extent.ops;
  step.excluded_id = std::move(segment.excluded_id);
  step.excluded_why = std::move(segment.excluded_why);
  return step;
}

}  // namespace

Steps Assemble(const StepInput& in, Segmentation segmentation) {
  // Twice: ops without a launch record can move a border (a replay that only
  // its prologue's launches tie to a marker), and they need borders first.
  std::vector<Extent> extents =
      MeasureExtents(in, segmentation.of_op, segmentation.segments.size());
  std::vector<uint32_t> order = OrderOf(extents);
  AssignByTime(in, extents, order, segmentation.of_op);
  AddHeadStep(in, order, segmentation);
  extents =
      MeasureExtents(in, segmentation.of_op, segmentation.segments.size());
  order = OrderOf(extents);

  Steps out;
  out.evidence = segmentation.evidence;
  out.how = std::move(segmentation.how);
  out.notes = std::move(segmentation.notes);
  std::vector<uint32_t> step_of_segment(extents.size(), kNone);
  for (const uint32_t s : order) {
    step_of_segment[s] = static_cast<uint32_t>(out.steps.size());
    out.steps.push_back(MakeStep(extents[s], segmentation.segments[s]));
  }
  for (size_t k = 0; k + 1 < out.steps.size(); ++k) {
    out.steps[k].next_begin_ns = out.steps[k + 1].begin_ns;
  }
  out.step_of_op = std::move(segmentation.of_op);
  for (uint32_t& s : out.step_of_op) {
    s = s < extents.size() ? step_of_segment[s] : kNone;
  }
  out.replays = in.replays.list;
  for (uint32_t r = 0; r < out.replays.size(); ++r) {
    out.replays[r].step =
        out.step_of_op[in.replays.ops[in.replays.op_begin[r]]];
  }
  return out;
}

std::vector<uint64_t> WorkOfSteps(const Steps& steps) {
  std::vector<uint64_t> work(steps.steps.size(), 0);
  if (steps.evidence == Evidence::kMarkers) return work;
  std::vector<uint32_t> ops(steps.steps.size(), 0);
  for (const Replay& replay : steps.replays) {
    if (replay.step == kNone) continue;
    const uint32_t whole = replay.ops + replay.missing_ops;
    if (whole <= ops[replay.step]) continue;
    ops[replay.step] = whole;
    work[replay.step] = replay.signature;
  }
  return work;
}

}  // namespace inferdiff
