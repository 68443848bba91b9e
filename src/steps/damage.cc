// SPDX-License-Identifier: Apache-2.0
#include "steps/damage.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/checked.h"
#include "base/number.h"

namespace inferdiff {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

// --- impossible durations ----------------------------------------------------

/// An op that ends long after the next one on its lane has started.
struct Overrun {
  uint32_t op = 0;
  int64_t next_start_ns = 0;
};

std::vector<Overrun> FindOverruns(const Trace& trace,
                                  const Classification& classes) {
  const GpuOps& ops = trace.ops;
  std::vector<uint32_t> last(trace.lanes.size(), kNone);  // by lane
  std::vector<Overrun> out;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const uint32_t before = last[ops.lane[i]];
    last[ops.lane[i]] = i;
    if (before == kNone) continue;
    const int64_t start = ops.start_ns[i];
    if (SaturatingSub(ops.end_ns(before), start) <= kMillisecond) continue;
    if (ops.kind[before] != OpKind::kKernel ||
        classes.of_op[before] == Category::kCommunication) {
      continue;
    }
    out.push_back({before, start});
  }
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
  const int64_t over = SaturatingSub(ops.end_ns(one.op), one.next_start_ns);
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

void FindImpossible(const Trace& trace, const Classification& classes,
                    std::vector<Damage>* out) {
  const GpuOps& ops = trace.ops;
  const std::vector<Overrun> overruns = FindOverruns(trace, classes);
  if (overruns.empty()) return;
  constexpr uint32_t kAlwaysFew = 8;
  std::vector<uint32_t> on_lane(trace.lanes.size(), 0);
  std::vector<uint32_t> overruns_on(trace.lanes.size(), 0);
  for (const uint32_t lane : ops.lane) ++on_lane[lane];
  for (const Overrun& one : overruns) ++overruns_on[ops.lane[one.op]];
  const std::unordered_map<NameId, int64_t> usual =
      UsualDurations(ops, overruns);
  const int64_t rest = SumWithout(ops, overruns);
  for (const Overrun& one : overruns) {
    const uint32_t lane = ops.lane[one.op];
    if (overruns_on[lane] > std::max(kAlwaysFew, on_lane[lane] / 100)) continue;
    if (!IsFarTooLong(ops, one, usual.at(ops.name[one.op]), rest)) continue;
    out->push_back({DamageKind::kImpossibleDuration, one.op, one.next_start_ns,
                    ops.end_ns(one.op)});
  }
}

// --- clock jumps -------------------------------------------------------------

/// A launch and the first op that it started.
struct Lead {
  int64_t lead_ns = 0;
  uint32_t op = 0;
};

struct Range {
  int64_t min = INT64_MAX, max = INT64_MIN;
  void Add(int64_t value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  int64_t width() const { return SaturatingSub(max, min); }
};

constexpr size_t kLeastLeads = 3;  // of either level

/// By launch call: its first op, or kNone.
std::vector<uint32_t> FirstOps(const Trace& trace) {
  std::vector<uint32_t> first(trace.calls.size(), kNone);
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    const uint32_t launch = trace.ops.launch[i];
    if (launch != kNone && first[launch] == kNone) first[launch] = i;
  }
  return first;
}

/// From the call's end: one that loads code first lasts for milliseconds. An op
/// that starts while the call lasts has none, one in front of it a negative.
Lead LeadOf(const Trace& trace, size_t call, uint32_t first_op) {
  const int64_t start = trace.ops.start_ns[first_op];
  const int64_t begin = trace.calls.start_ns[call];
  const int64_t end = SaturatingAdd(begin, trace.calls.dur_ns[call]);
  const int64_t before = std::min<int64_t>(SaturatingSub(start, begin), 0);
  const int64_t behind = std::max<int64_t>(SaturatingSub(start, end), 0);
  return {before + behind, first_op};
}

/// In order of the launch calls.
std::vector<Lead> LeadsOf(const Trace& trace,
                          const std::vector<uint32_t>& first) {
  std::vector<Lead> leads;
  for (size_t call = 0; call < first.size(); ++call)
    if (first[call] != kNone) leads.push_back(LeadOf(trace, call, first[call]));
  return leads;
}

/// Leads of two levels, as few captures have them, begin on one and end on the
/// other: a look at the ends spares the rest.
bool EndsDiffer(const Trace& trace, const std::vector<uint32_t>& first) {
  Range front, back;
  size_t found = 0;
  for (size_t call = 0; call < first.size() && found < kLeastLeads; ++call) {
    if (first[call] == kNone) continue;
    front.Add(LeadOf(trace, call, first[call]).lead_ns);
    ++found;
  }
  found = 0;
  for (size_t call = first.size(); call-- > 0 && found < kLeastLeads;) {
    if (first[call] == kNone) continue;
    back.Add(LeadOf(trace, call, first[call]).lead_ns);
    ++found;
  }
  return SaturatingSub(back.min, front.max) > kMillisecond ||
         SaturatingSub(front.min, back.max) > kMillisecond;
}

/// Where a list of leads falls into two levels: index of the second one's
/// first, and how far apart they are, negative where the second is lower.
struct Levels {
  size_t second = 0;
  int64_t apart_ns = 0;
};

Levels SplitLevels(std::span<const Lead> leads) {
  if (leads.size() < 2 * kLeastLeads) return {};
  std::vector<Range> behind(leads.size());
  Range range;
  for (size_t i = leads.size(); i-- > 0;) {
    range.Add(leads[i].lead_ns);
    behind[i] = range;
  }
  Range before;
  Levels best;
  for (size_t i = 1; i + kLeastLeads <= leads.size(); ++i) {
    before.Add(leads[i - 1].lead_ns);
    if (i < kLeastLeads) continue;
    const int64_t up = SaturatingSub(behind[i].min, before.max);
    const int64_t down = SaturatingSub(before.min, behind[i].max);
    const int64_t apart = std::max(up, down);
    const int64_t spread = std::max(before.width(), behind[i].width());
    if (apart <= kMillisecond || apart / 2 < spread) continue;
    if (apart > std::max(best.apart_ns, SaturatingSub(0, best.apart_ns)))
      best = {i, up > 0 ? up : -down};
  }
  return best;
}

struct Gap {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t length() const { return SaturatingSub(end_ns, begin_ns); }
};

/// The longest time without any op between the starts of two.
Gap LongestGap(const GpuOps& ops, uint32_t from, uint32_t to) {
  Gap longest;
  int64_t busy_until = INT64_MIN;
  for (uint32_t i = 0; i <= to; ++i) {
    const Gap gap = {busy_until, ops.start_ns[i]};
    if (i > from && gap.length() > longest.length()) longest = gap;
    busy_until = std::max(busy_until, ops.end_ns(i));
  }
  return longest;
}

void FindJump(const Trace& trace, std::vector<Damage>* out) {
  const std::vector<uint32_t> first = FirstOps(trace);
  if (!EndsDiffer(trace, first)) return;
  const std::vector<Lead> leads = LeadsOf(trace, first);
  const Levels levels = SplitLevels(leads);
  if (levels.apart_ns == 0) return;
  int64_t last_end = INT64_MIN;
  for (size_t i = 0; i < levels.second; ++i)
    last_end = std::max(last_end, trace.ops.end_ns(leads[i].op));
  int64_t first_start = INT64_MAX;
  uint32_t op = 0;
  for (size_t i = levels.second; i < leads.size(); ++i) {
    if (trace.ops.start_ns[leads[i].op] >= first_start) continue;
    op = leads[i].op;
    first_start = trace.ops.start_ns[op];
  }
  if (levels.apart_ns > 0) {
    // Perhaps within the last replay before: it is not where the leads change.
    const Gap gap = LongestGap(trace.ops, leads[levels.second - 1].op, op);
    if (gap.length() >= levels.apart_ns / 2)
      out->push_back({DamageKind::kClockJump, op, gap.begin_ns, gap.end_ns});
  } else if (leads[levels.second].lead_ns < 0) {
    out->push_back({DamageKind::kClockJump, op, std::min(last_end, first_start),
                    std::max(last_end, first_start)});
  }
}

std::string WhyDamaged(const Damage& damage) {
  const std::string time =
      Duration({SaturatingSub(damage.end_ns, damage.begin_ns), 1});
  return damage.kind == DamageKind::kClockJump
             ? fmt::format("the GPU's clock jumps by about {} in it", time)
             : fmt::format(
                   "a kernel is recorded as running {} into the next one of "
                   "its lane",
                   time);
}

}  // namespace

std::string_view IdOf(DamageKind kind) {
  return kind == DamageKind::kClockJump ? "clock-jump" : "impossible-duration";
}

std::vector<Damage> FindDamage(const Trace& trace,
                               const Classification& classes) {
  std::vector<Damage> out;
  FindImpossible(trace, classes, &out);
  FindJump(trace, &out);
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
