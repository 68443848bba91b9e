// SPDX-License-Identifier: Apache-2.0
#include "steps/damage.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/number.h"
#include "steps/clock_jumps.h"

namespace inferdiff {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

// --- impossible durations ----------------------------------------------------

/// An op that goes on long after it must have ended.
struct Overrun {
  uint32_t op = 0;
  int64_t limit_ns = 0;
};

bool MayBeWrong(const StepInput& in, uint32_t op) {
  return in.trace.ops.kind[op] == OpKind::kKernel &&
         in.classes.of_op[op] != Category::kCommunication;
}

/// By replay: where the next op on its main lane starts, which waits for all of
/// the replay, whatever lane it ran on.
std::vector<int64_t> LimitsOfReplays(const StepInput& in) {
  const GpuOps& ops = in.trace.ops;
  const Replays& replays = in.replays;
  std::vector<int64_t> limits(replays.list.size(), INT64_MAX);
  std::vector<uint32_t> last(in.trace.lanes.size(), kNone);  // replay, by lane
  if (limits.empty()) return limits;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const uint32_t lane = ops.lane[i], replay = replays.of_op[i];
    if (last[lane] == replay) continue;
    if (last[lane] != kNone) limits[last[lane]] = ops.start_ns[i];
    const bool is_main =
        replay != kNone && replays.list[replay].main_lane == lane;
    last[lane] = is_main ? replay : kNone;
  }
  return limits;
}

/// Ops that run on where the next one on their lane, or behind their replay,
/// runs already. `last` gets the last op of each lane.
std::vector<Overrun> FindOverruns(const StepInput& in,
                                  std::vector<uint32_t>* last) {
  const GpuOps& ops = in.trace.ops;
  const std::vector<int64_t> limits = LimitsOfReplays(in);
  last->assign(in.trace.lanes.size(), kNone);
  std::vector<Overrun> out;
  const auto check = [&](uint32_t op, int64_t next_ns) {
    const uint32_t replay = in.replays.of_op[op];
    const int64_t limit =
        replay == kNone ? next_ns : std::min(next_ns, limits[replay]);
    if (SaturatingSub(ops.end_ns(op), limit) <= kMillisecond) return;
    if (MayBeWrong(in, op)) out.push_back({op, limit});
  };
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const uint32_t before = std::exchange((*last)[ops.lane[i]], i);
    if (before != kNone) check(before, ops.start_ns[i]);
  }
  for (const uint32_t op : *last)
    if (op != kNone) check(op, INT64_MAX);
  return out;
}

int64_t MedianOf(std::vector<int64_t>* values) {
  const auto middle = values->begin() + ptrdiff_t((values->size() - 1) / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

/// Of the names that overrun: their calls' median duration; -1 with fewer than
/// three calls.
std::unordered_map<NameId, int64_t> UsualDurations(
    const GpuOps& ops, const std::vector<Overrun>& overruns) {
  std::unordered_map<NameId, std::vector<int64_t>> durations;
  for (const Overrun& one : overruns) durations[ops.name[one.op]];
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto found = durations.find(ops.name[i]);
    if (found != durations.end()) found->second.push_back(ops.dur_ns[i]);
  }
  std::unordered_map<NameId, int64_t> usual;
  for (auto& [name, list] : durations)
    usual[name] = list.size() < 3 ? -1 : MedianOf(&list);
  return usual;
}

bool IsFarTooLong(const GpuOps& ops, const Overrun& one, int64_t usual_ns,
                  int64_t all_ns) {
  if (usual_ns >= 0) return ops.dur_ns[one.op] / 10 >= usual_ns;
  const int64_t over = SaturatingSub(ops.end_ns(one.op), one.limit_ns);
  return over >= all_ns / 20;
}

/// Sum of the durations but for those of the overruns.
int64_t SumWithout(const GpuOps& ops, const std::vector<Overrun>& overruns) {
  int64_t sum = 0;
  for (const int64_t dur : ops.dur_ns) sum = SaturatingAdd(sum, dur);
  for (const Overrun& one : overruns)
    sum = SaturatingSub(sum, ops.dur_ns[one.op]);
  return sum;
}

/// Did the host, having launched the op, wait for the GPU and go on more than
/// 1 ms before the op's end?
bool HostWentOn(const Trace& trace, uint32_t op) {
  const uint32_t launch = trace.ops.launch[op];
  if (launch == kNone) return false;
  for (size_t call = launch + 1; call < trace.calls.size(); ++call) {
    if (trace.calls.kind[call] != CallKind::kSync) continue;
    return SaturatingSub(trace.ops.end_ns(op), trace.calls.end_ns(call)) >
           kMillisecond;
  }
  return false;
}

/// Calls of one kernel that do the same work.
struct Calls {
  size_t count = 0;
  int64_t shortest_ns = INT64_MAX, longest_ns = 0;

  void Add(int64_t dur_ns) {
    ++count;
    shortest_ns = std::min(shortest_ns, dur_ns);
    longest_ns = std::max(longest_ns, dur_ns);
  }
  bool AreAlike() const { return longest_ns / 4 <= shortest_ns; }
};

/// Other calls of the op's kernel: in replays of its graph, or else on its
/// lane, where no other lane's work hides under the name.
Calls OtherCalls(const StepInput& in, uint32_t op) {
  const GpuOps& ops = in.trace.ops;
  const auto graph_of = [&](uint32_t i) {
    const uint32_t replay = in.replays.of_op[i];
    return replay == kNone ? 0 : in.replays.list[replay].signature;
  };
  const uint64_t graph = graph_of(op);
  Calls calls;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (i == op || ops.name[i] != ops.name[op] || graph_of(i) != graph)
      continue;
    if (graph != 0 || ops.lane[i] == ops.lane[op]) calls.Add(ops.dur_ns[i]);
  }
  return calls;
}

/// Last ops of a lane, which nothing there bounds: ten times as long as the
/// longest of five and more other calls, by over 1 ms. As that alone may be
/// other work under the same name, those must be alike, or the host must have
/// waited for the lane on which it does most, and gone on.
void FindLongLastOps(const StepInput& in, const std::vector<uint32_t>& last,
                     uint32_t busiest, std::vector<Damage>* out) {
  constexpr size_t kLeastCalls = 5;
  constexpr size_t kMostLanes = 64;  // each is held against all ops
  const GpuOps& ops = in.trace.ops;
  size_t looked = 0;
  for (const uint32_t op : last) {
    if (op == kNone || !MayBeWrong(in, op) || ops.dur_ns[op] <= kMillisecond)
      continue;
    if (++looked > kMostLanes) return;
    const Calls calls = OtherCalls(in, op);
    if (calls.count < kLeastCalls || ops.dur_ns[op] / 10 < calls.longest_ns ||
        ops.dur_ns[op] - calls.longest_ns <= kMillisecond)
      continue;
    if (!calls.AreAlike() &&
        !(ops.lane[op] == busiest && HostWentOn(in.trace, op)))
      continue;
    out->push_back({DamageKind::kImpossibleDuration, op,
                    ops.start_ns[op] + calls.longest_ns, ops.end_ns(op)});
  }
}

void FindImpossible(const StepInput& in, std::vector<Damage>* out) {
  const GpuOps& ops = in.trace.ops;
  std::vector<uint32_t> last;  // by lane
  const std::vector<Overrun> overruns = FindOverruns(in, &last);
  constexpr uint32_t kAlwaysFew = 8;
  std::vector<uint32_t> overruns_on(in.trace.lanes.size(), 0);
  for (const Overrun& one : overruns) {
    ++overruns_on[ops.lane[one.op]];
    if (last[ops.lane[one.op]] == one.op) last[ops.lane[one.op]] = kNone;
  }
  std::vector<uint32_t> on_lane(in.trace.lanes.size(), 0);
  for (const uint32_t lane : ops.lane) ++on_lane[lane];
  const auto busiest = std::max_element(on_lane.begin(), on_lane.end());
  FindLongLastOps(in, last, static_cast<uint32_t>(busiest - on_lane.begin()),
                  out);
  if (overruns.empty()) return;
  const int64_t rest = SumWithout(ops, overruns);
  const std::unordered_map<NameId, int64_t> usual =
      UsualDurations(ops, overruns);
  for (const Overrun& one : overruns) {
    const uint32_t lane = ops.lane[one.op];
    if (overruns_on[lane] > std::max(kAlwaysFew, on_lane[lane] / 100)) continue;
    if (!IsFarTooLong(ops, one, usual.at(ops.name[one.op]), rest)) continue;
    out->push_back({DamageKind::kImpossibleDuration, one.op, one.limit_ns,
                    ops.end_ns(one.op)});
  }
}

std::string WhyDamaged(const Damage& damage) {
  const std::string time =
      Duration({SaturatingSub(damage.end_ns, damage.begin_ns), 1});
  return damage.kind == DamageKind::kClockJump
             ? fmt::format("the GPU's clock jumps by about {} in it", time)
             : fmt::format(
                   "a kernel is recorded as ending {} later than it can have",
                   time);
}

}  // namespace

std::string_view IdOf(DamageKind kind) {
  return kind == DamageKind::kClockJump ? "clock-jump" : "impossible-duration";
}

std::vector<Damage> FindDamage(const StepInput& in) {
  std::vector<Damage> out = FindClockJumps(in.trace);
  FindImpossible(in, &out);
  std::sort(out.begin(), out.end(), [](const Damage& a, const Damage& b) {
    return std::tie(a.begin_ns, a.op) < std::tie(b.begin_ns, b.op);
  });
  return out;
}

void ExcludeDamaged(Steps& steps) {
  // By begin; what reaches furthest of those that began decides.
  const auto mark = [](Step& step, const Damage& damage) {
    if (!step.excluded_id.empty()) return;
    step.excluded_id = IdOf(damage.kind);
    step.excluded_why = WhyDamaged(damage);
  };
  const Damage* furthest = nullptr;
  size_t next = 0;
  for (Step& step : steps.steps) {
    const int64_t end = step.next_begin_ns.value_or(INT64_MAX);
    for (; next < steps.damage.size() && steps.damage[next].begin_ns < end;
         ++next) {
      if (furthest == nullptr || steps.damage[next].end_ns > furthest->end_ns)
        furthest = &steps.damage[next];
    }
    if (furthest != nullptr && furthest->end_ns > step.begin_ns)
      mark(step, *furthest);
  }
  for (const Damage& damage : steps.damage) {
    const uint32_t step = steps.step_of_op[damage.op];
    if (step < steps.steps.size() &&
        damage.kind == DamageKind::kImpossibleDuration)
      mark(steps.steps[step], damage);
  }
}

}  // namespace inferdiff
