// SPDX-License-Identifier: Apache-2.0
#include "integrity/host_checks.h"

#include <algorithm>

#include "base/checked.h"

namespace inferdiff {
namespace {

/// Kernels without a launch call, which may be that of a launch without a
/// kernel. Not those in front of the first op of their lane that has one: a
/// lane runs in order, so that they were launched before the window of the
/// trace.
int64_t UnlinkedKernels(const Trace& trace) {
  const GpuOps& ops = trace.ops;
  std::vector<int64_t> in_front(trace.lanes.size(), 0);
  std::vector<bool> begun(trace.lanes.size(), false);
  int64_t count = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const uint32_t lane = ops.lane[i];
    if (ops.launch[i] != kNone) {
      begun[lane] = true;
    } else if (ops.kind[i] == OpKind::kKernel) {
      ++(begun[lane] ? count : in_front[lane]);
    }
  }
  for (size_t lane = 0; lane < begun.size(); ++lane)
    if (!begun[lane]) count += in_front[lane];
  return count;
}

std::optional<CaptureCheck> Found(CheckKind kind, Weight weight, int64_t count,
                                  int64_t of) {
  if (count <= 0) return std::nullopt;
  CaptureCheck check;
  check.kind = kind;
  check.weight = weight;
  check.count = count;
  check.of = of;
  return check;
}

/// The walls of used steps, as a function of time.
class UsedWalls {
 public:
  explicit UsedWalls(const Steps& steps) {
    for (const Step& step : steps.steps) {
      if (!step.excluded_id.empty() || !step.next_begin_ns) continue;
      begin_.push_back(step.begin_ns);
      total_.push_back(SaturatingAdd(
          total_.back(), SaturatingSub(*step.next_begin_ns, step.begin_ns)));
    }
  }
  int64_t total() const { return total_.back(); }

  /// How much of them lies before `time_ns`.
  int64_t Before(int64_t time_ns) const {
    const auto after = std::upper_bound(begin_.begin(), begin_.end(), time_ns);
    if (after == begin_.begin()) return 0;
    const auto last = static_cast<size_t>(after - begin_.begin()) - 1;
    return std::min(
        total_[last + 1],
        SaturatingAdd(total_[last], SaturatingSub(time_ns, begin_[last])));
  }

 private:
  std::vector<int64_t> begin_;
  std::vector<int64_t> total_ = {0};  // of the walls in front of one
};

}  // namespace

std::optional<CaptureCheck> CheckLostLaunches(const Trace& trace,
                                              const Steps& steps) {
  const LaunchTally& launches = trace.capture.launches;
  if (launches.kernels_lost == 0) return std::nullopt;
  uint32_t largest = 0;
  for (const Replay& replay : steps.replays)
    largest = std::max(largest, replay.ops);
  if (largest > 0 && launches.longest_loss * 2 >= largest) return std::nullopt;
  return Found(CheckKind::kLaunchWithoutKernel, Weight::kReservation,
               launches.kernels_lost - UnlinkedKernels(trace),
               launches.kernels);
}

std::optional<CaptureCheck> CheckLostGraphs(const Trace& trace) {
  const LaunchTally& launches = trace.capture.launches;
  if (launches.graphs_lost == 0 ||
      UnlinkedKernels(trace) >= launches.graphs_lost)
    return std::nullopt;
  return Found(CheckKind::kGraphWithoutKernels, Weight::kReservation,
               launches.graphs_lost, launches.graphs);
}

std::optional<CaptureCheck> CheckAmbiguous(const Trace& trace) {
  return Found(CheckKind::kAmbiguousLaunch, Weight::kReservation,
               trace.capture.ambiguous_ops,
               static_cast<int64_t>(trace.ops.size()));
}

std::optional<CaptureCheck> CheckRepeated(const Trace& trace) {
  return Found(CheckKind::kRepeatedRecord, Weight::kNote,
               trace.capture.repeated_ops, 0);
}

std::optional<CaptureCheck> CheckProfilerTime(const Trace& trace,
                                              const Steps& steps) {
  if (trace.profiler.empty()) return std::nullopt;
  const UsedWalls used(steps);
  const int64_t walls = used.total();
  int64_t time = 0;
  for (const ProfilerSpan& span : trace.profiler) {
    const int64_t end = SaturatingAdd(span.start_ns, span.dur_ns);
    time = SaturatingAdd(
        time, SaturatingSub(used.Before(end), used.Before(span.start_ns)));
  }
  if (time == 0 || time < walls / 1000) return std::nullopt;
  CaptureCheck check;
  check.kind = CheckKind::kProfilerTime;
  check.weight = time >= walls / 20 ? Weight::kReservation : Weight::kNote;
  check.count = static_cast<int64_t>(trace.profiler.size());
  check.time_ns = time;
  check.of_ns = walls;
  return check;
}

}  // namespace inferdiff
