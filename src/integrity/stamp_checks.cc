// SPDX-License-Identifier: Apache-2.0
#include "integrity/stamp_checks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/checked.h"
#include "steps/markers.h"

namespace inferdiff {
namespace {

/// Host ranges whose text is a step marker of an engine.
class StepMarkers {
 public:
  explicit StepMarkers(const Trace& trace)
      : trace_(trace), known_(trace.names->size(), kUnasked) {}

  bool IsOne(const Annotation& range) {
    if (range.on_gpu) return false;
    uint8_t& known = known_[range.name];
    if (known == kUnasked) known = Ask((*trace_.names)[range.name]);
    return known == kMarker;
  }

 private:
  enum : uint8_t { kUnasked, kMarker, kOther };

  static uint8_t Ask(std::string_view text) {
    const MarkerRules& rules = MarkerRules::Builtin();
    const std::optional<MarkerMatch> match = rules.Match(text);
    return match && !rules.rules()[match->rule].generic ? kMarker : kOther;
  }

  const Trace& trace_;
  std::vector<uint8_t> known_;  // by name
};

/// How many markers end by `time_ns`; 0 where one ends later.
size_t MarkersBefore(const Trace& trace, int64_t time_ns) {
  StepMarkers markers(trace);
  size_t count = 0;
  // The last ones first: in nearly all traces one of them ends the search.
  for (size_t i = trace.annotations.size(); i-- > 0;) {
    const Annotation& range = trace.annotations[i];
    if (!markers.IsOne(range)) continue;
    if (SaturatingAdd(range.start_ns, range.dur_ns) > time_ns) return 0;
    ++count;
  }
  return count;
}

/// Were all replays launched before `time_ns`, and did the host wait for
/// something between each launch and the next?
bool LaunchedInTurn(const Trace& trace, const Steps& steps, int64_t time_ns) {
  constexpr size_t kLeast = 4;
  std::vector<uint32_t> launches;
  for (const Replay& replay : steps.replays) {
    if (replay.launch == kNone || trace.calls.start_ns[replay.launch] > time_ns)
      return false;
    launches.push_back(replay.launch);
  }
  std::sort(launches.begin(), launches.end());
  for (size_t i = 1; i < launches.size(); ++i) {
    const auto begin = trace.calls.kind.begin();
    const auto end = begin + launches[i];
    if (std::find(begin + launches[i - 1], end, CallKind::kSync) == end)
      return false;
  }
  return launches.size() >= kLeast;
}

/// Did the GPU idle for half of the time between the two?
bool IsMostlyIdle(const Trace& trace, int64_t from_ns, int64_t to_ns) {
  int64_t busy = 0;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if (trace.ops.start_ns[i] >= to_ns) break;
    const int64_t inside =
        SaturatingSub(std::min(trace.ops.end_ns(i), to_ns),
                      std::max(trace.ops.start_ns[i], from_ns));
    busy = SaturatingAdd(busy, std::max<int64_t>(inside, 0));
  }
  return busy < SaturatingSub(to_ns, from_ns) / 2;
}

/// In how many step markers a call was made whose op has ended by `time_ns`?
size_t MarkersWithWork(const Trace& trace, int64_t time_ns) {
  const HostCalls& calls = trace.calls;
  std::vector<uint32_t> before(calls.size() + 1, 0);  // such calls in front
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if (trace.ops.launch[i] != kNone && trace.ops.end_ns(i) <= time_ns)
      before[trace.ops.launch[i] + 1] = 1;
  }
  for (size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  const auto calls_before = [&](int64_t at_ns) {
    const auto call =
        std::lower_bound(calls.start_ns.begin(), calls.start_ns.end(), at_ns);
    return before[static_cast<size_t>(call - calls.start_ns.begin())];
  };
  StepMarkers markers(trace);
  size_t count = 0;
  for (const Annotation& range : trace.annotations) {
    if (!markers.IsOne(range)) continue;
    const int64_t end = SaturatingAdd(range.start_ns, range.dur_ns);
    count += calls_before(end) > calls_before(range.start_ns);
  }
  return count;
}

/// Where kernels of graphs have no correlation, no replay is known. They are
/// then most of the trace, and have no launch call; none of them runs before
/// the last marker ends, although other work of the steps does.
std::optional<CaptureCheck> CheckUnlinkedBurst(const Trace& trace) {
  constexpr size_t kLeast = 2;
  const GpuOps& ops = trace.ops;
  CaptureCheck check;
  check.kind = CheckKind::kLateBurst;
  check.weight = Weight::kRefusal;
  check.of = static_cast<int64_t>(ops.size());
  int64_t begin = INT64_MAX;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.launch[i] != kNone) continue;
    if (ops.kind[i] == OpKind::kKernel)
      begin = std::min(begin, ops.start_ns[i]);
    // Of a graph the first kernel is its begin, copies and fills aside.
    check.count += begin != INT64_MAX;
  }
  if (check.count * 2 < check.of || MarkersBefore(trace, begin) < kLeast ||
      MarkersWithWork(trace, begin) < kLeast ||
      !IsMostlyIdle(trace, ops.start_ns[0], begin))
    return std::nullopt;
  return check;
}

struct NameFloor {
  int64_t shortest_ns = 0;
  Category category = Category::kUnclassified;
};

/// By name, shortest first.
std::vector<NameFloor> ShortestCalls(const Trace& trace,
                                     const Classification& classes,
                                     bool* coarse) {
  const GpuOps& ops = trace.ops;
  std::vector<uint32_t> number(trace.names->size(), kNone);
  std::vector<NameFloor> out;
  *coarse = true;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != OpKind::kKernel) continue;
    *coarse = *coarse && ops.dur_ns[i] % 1000 == 0;
    uint32_t& mine = number[ops.name[i]];
    if (mine == kNone) {
      mine = static_cast<uint32_t>(out.size());
      out.push_back({ops.dur_ns[i], classes.of_op[i]});
    }
    out[mine].shortest_ns = std::min(out[mine].shortest_ns, ops.dur_ns[i]);
  }
  std::sort(out.begin(), out.end(), [](const NameFloor& a, const NameFloor& b) {
    return a.shortest_ns < b.shortest_ns;
  });
  return out;
}

int64_t CategoriesIn(const std::vector<NameFloor>& names, size_t first,
                     size_t last) {
  std::array<bool, kCategoryCount> seen{};
  for (size_t i = first; i < last; ++i)
    seen[static_cast<size_t>(names[i].category)] = true;
  return std::count(seen.begin(), seen.end(), true);
}

}  // namespace

std::optional<CaptureCheck> CheckBurst(const Trace& trace, const Steps& steps) {
  constexpr size_t kLeast = 2;
  if (steps.replays.empty()) return CheckUnlinkedBurst(trace);
  if (steps.replays.size() < kLeast) return std::nullopt;
  const int64_t begin = steps.replays.front().begin_ns;
  if (MarkersBefore(trace, begin) < kLeast &&
      !LaunchedInTurn(trace, steps, begin))
    return std::nullopt;
  CaptureCheck check;
  check.kind = CheckKind::kLateBurst;
  check.weight = Weight::kRefusal;
  int64_t launched = INT64_MAX;
  for (const Replay& replay : steps.replays) {
    check.count += replay.ops;
    if (replay.launch != kNone)
      launched = std::min(launched, trace.calls.start_ns[replay.launch]);
  }
  check.of = static_cast<int64_t>(trace.ops.size());
  if (launched < begin && !IsMostlyIdle(trace, launched, begin))
    return std::nullopt;
  return check;
}

std::optional<CaptureCheck> CheckFloor(const Trace& trace,
                                       const Classification& classes) {
  constexpr size_t kLeastNames = 8;
  constexpr int64_t kLeastFloor = 2000, kLeastCoarse = 10'000;
  bool coarse = false;
  const std::vector<NameFloor> names = ShortestCalls(trace, classes, &coarse);
  if (names.size() < kLeastNames) return std::nullopt;
  for (size_t first = 0; first <= names.size() / 20; ++first) {
    const int64_t floor = names[first].shortest_ns;
    const int64_t until = SaturatingAdd(floor, floor / 10);
    size_t last = first;
    while (last < names.size() && names[last].shortest_ns <= until) ++last;
    if (floor < (coarse ? kLeastCoarse : kLeastFloor) ||
        (last - first) * 2 < names.size() ||
        CategoriesIn(names, first, last) < 3)
      continue;
    CaptureCheck check;
    check.kind = CheckKind::kInstrumentationFloor;
    check.weight = Weight::kReservation;
    check.count = static_cast<int64_t>(last - first);
    check.of = static_cast<int64_t>(names.size());
    check.time_ns = floor;
    return check;
  }
  return std::nullopt;
}

std::optional<CaptureCheck> CheckBackToBack(const Trace& trace,
                                            const Steps& steps) {
  constexpr int64_t kLeast = 100;
  if (steps.replays.empty()) return std::nullopt;
  const GpuOps& ops = trace.ops;
  std::vector<uint32_t> last(trace.lanes.size(), kNone);  // by lane
  CaptureCheck check;
  check.kind = CheckKind::kBackToBackStamps;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const uint32_t before = last[ops.lane[i]];
    last[ops.lane[i]] = i;
    if (before == kNone || steps.replay_of_op[i] == kNone ||
        steps.replay_of_op[before] != steps.replay_of_op[i])
      continue;
    const int64_t gap = SaturatingSub(ops.start_ns[i], ops.end_ns(before));
    ++check.of;
    if (gap == 0 || gap == 1) ++check.count;
  }
  if (check.of < kLeast || check.count * 10 < check.of * 9) return std::nullopt;
  return check;
}

}  // namespace inferdiff
