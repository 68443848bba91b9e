// SPDX-License-Identifier: Apache-2.0
#include "steps/assemble.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked.h"
#include "steps/segment_ops.h"

namespace inferdiff {
namespace {

/// One segment's ops, as far as they are known.
struct Extent {
  uint32_t ops = 0;
  uint32_t largest_replay = kNone;
  uint32_t lane = kNone;  // the forward lane
  int64_t begin_ns = 0;   // first op on it
};

// The lane with most busy time; what may wait does not count beside other work,
// or a lane that only waits would win. Durations stand for the union: on one
// lane ops hardly overlap. `busy` is by lane; 0 before and after.
uint32_t BusiestLane(const StepInput& in, const uint32_t* begin,
                     const uint32_t* end, std::vector<int64_t>& busy) {
  const GpuOps& ops = in.trace.ops;
  const auto waits = [&](uint32_t op) { return MayWait(in, op); };
  const bool nothing_else = std::all_of(begin, end, waits);
  for (const uint32_t* op = begin; op != end; ++op) {
    if (waits(*op) && !nothing_else) continue;
    int64_t& sum = busy[ops.lane[*op]];
    sum = SaturatingAdd(sum, ops.dur_ns[*op]);
  }
  uint32_t lane = kNone;
  int64_t most = -1;
  for (const uint32_t* op = begin; op != end; ++op) {
    if (busy[ops.lane[*op]] <= most) continue;
    lane = ops.lane[*op];
    most = busy[lane];
  }
  for (const uint32_t* op = begin; op != end; ++op) busy[ops.lane[*op]] = 0;
  return lane;
}

// True if the lane has a quarter of the kernel time, collectives included.
bool HasQuarter(const GpuOps& ops, const uint32_t* begin, const uint32_t* end,
                uint32_t lane) {
  int64_t on_lane = 0, all = 0;
  for (const uint32_t* op = begin; op != end; ++op) {
    if (ops.kind[*op] != OpKind::kKernel) continue;
    all = SaturatingAdd(all, ops.dur_ns[*op]);
    if (ops.lane[*op] == lane)
      on_lane = SaturatingAdd(on_lane, ops.dur_ns[*op]);
  }
  return on_lane > 0 && on_lane >= all / 4;
}

// The forward lane of most steps; the lower one of equals.
uint32_t CommonLane(const std::vector<Extent>& extents, size_t lanes) {
  std::vector<uint32_t> steps(lanes, 0);
  for (const Extent& extent : extents) {
    if (extent.lane != kNone) ++steps[extent.lane];
  }
  return static_cast<uint32_t>(std::max_element(steps.begin(), steps.end()) -
                               steps.begin());
}

// Of segments without a replay. One with hardly any work (a data-parallel
// rank that idles, and only joins the others' collectives) may have most of it
// elsewhere by chance, and its border would cut its neighbour's wall: where
// the common forward lane has a fair part of the work, it decides.
void FindBusiestLanes(const StepInput& in, const std::vector<uint32_t>& of_op,
                      std::vector<Extent>& extents) {
  const SegmentOps ops(of_op, extents.size());
  std::vector<int64_t> busy(in.trace.lanes.size(), 0);
  const auto has_lane = [](const Extent& extent) {
    return extent.ops == 0 || extent.largest_replay != kNone;
  };
  for (size_t s = 0; s < extents.size(); ++s) {
    if (has_lane(extents[s])) continue;
    extents[s].lane = BusiestLane(in, ops.begin(s), ops.end(s), busy);
  }
  const uint32_t common = CommonLane(extents, busy.size());
  for (size_t s = 0; s < extents.size(); ++s) {
    if (has_lane(extents[s]) || extents[s].lane == common) continue;
    if (HasQuarter(in.trace.ops, ops.begin(s), ops.end(s), common)) {
      extents[s].lane = common;
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
  bool all_replayed = true;
  for (Extent& extent : extents) {
    if (extent.largest_replay != kNone) {
      extent.lane = in.replays.list[extent.largest_replay].main_lane;
    } else if (extent.ops > 0) {
      all_replayed = false;
    }
  }
  if (!all_replayed) FindBusiestLanes(in, of_op, extents);
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
