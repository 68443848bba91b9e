// SPDX-License-Identifier: Apache-2.0
#include "steps/exclude.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/checked.h"
#include "base/number.h"

namespace inferdiff {
namespace {

bool IsUsed(const Step& step) { return step.excluded_id.empty(); }

int64_t WallOf(const Step& step) {
  return step.next_begin_ns ? SaturatingSub(*step.next_begin_ns, step.begin_ns)
                            : -1;
}

std::optional<int64_t> MedianOf(std::vector<int64_t> values) {
  if (values.empty()) return std::nullopt;
  const auto middle =
      values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Exclude(Step& step, const char* id, std::string why) {
  if (!IsUsed(step)) return;
  step.excluded_id = id;
  step.excluded_why = std::move(why);
}

// "3.217 ms"; enough for a sentence.
std::string Milliseconds(int64_t ns) {
  return fmt::format("{}.{:03} ms", ns / 1000000, ns / 1000 % 1000);
}

void ExcludeIdle(Steps& steps) {
  for (Step& step : steps.steps) {
    if (step.shape.kind != StepKind::kIdle) continue;
    Exclude(step, "idle-step", "its marker says that the rank had no work");
  }
}

using WorkKey =
    std::tuple<StepKind, std::optional<int64_t>, std::optional<int64_t>>;

WorkKey WorkOf(const StepShape& shape) {
  return {shape.kind, shape.batch, shape.tokens};
}

/// What a step consists of, by number.
struct Content {
  int64_t ops = 0, eager = 0, replays = 0;
  int64_t missing = 0;  // ops that its replays lack
};

std::vector<Content> ContentOf(const Steps& steps) {
  std::vector<Content> out(steps.steps.size());
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].ops = out[k].eager = steps.steps[k].ops;
  }
  for (const Replay& replay : steps.replays) {
    if (replay.step == kNone) continue;
    out[replay.step].eager -= replay.ops;
    out[replay.step].missing += replay.missing_ops;
    ++out[replay.step].replays;
  }
  return out;
}

// Medians of each group over its used steps; zeros below three of them.
std::vector<Content> UsualContent(const Steps& steps,
                                  const std::vector<Content>& content) {
  struct Samples {
    std::vector<int64_t> ops, eager, replays;
  };
  std::vector<Samples> samples(steps.groups.size());
  for (size_t k = 0; k < content.size(); ++k) {
    if (!IsUsed(steps.steps[k])) continue;
    Samples& group = samples[steps.steps[k].group];
    group.ops.push_back(content[k].ops);
    group.eager.push_back(content[k].eager);
    group.replays.push_back(content[k].replays);
  }
  std::vector<Content> out(samples.size());
  for (size_t g = 0; g < out.size(); ++g) {
    if (samples[g].ops.size() < 3) continue;
    out[g].ops = *MedianOf(std::move(samples[g].ops));
    out[g].eager = *MedianOf(std::move(samples[g].eager));
    out[g].replays = *MedianOf(std::move(samples[g].replays));
  }
  return out;
}

// A replay that lacks ops of its graph is certain. Without one, a step with
// under four fifths of its group's usual ops is; but drafts vary in number,
// so a cycle with fewer replays lacks nothing. Without markers, eager work
// that the host launched between two replays (a prefill) is counted to the
// step before it; it is no part of that step's shape.
void ExcludeOtherContent(Steps& steps) {
  const std::vector<Content> content = ContentOf(steps);
  const std::vector<Content> usual = UsualContent(steps, content);
  for (size_t k = 0; k < content.size(); ++k) {
    Step& step = steps.steps[k];
    const Content &has = content[k], &should = usual[step.group];
    const bool other_cycle =
        should.replays > 1 && has.replays > 0 && has.replays != should.replays;
    if (has.missing > 0) {
      Exclude(step, "missing-ops",
              fmt::format("{} fewer than in the other replays of its graph",
                          Plural(has.missing, "op")));
    } else if (has.ops * 5 < should.ops * 4 && !other_cycle) {
      Exclude(step, "missing-ops",
              fmt::format("{} where steps of its shape have {}",
                          Plural(has.ops, "op"), should.ops));
    } else if (steps.evidence == Evidence::kGraphReplays && should.ops > 0 &&
               (has.eager - should.eager) * 4 > should.ops) {
      Exclude(step, "mixed-work",
              fmt::format("{} more than usual launched after its replay: a "
                          "prefill or other work without a graph",
                          Plural(has.eager - should.eager, "op")));
    }
  }
}

/// The first collectives of each step, in time order.
class Collectives {
 public:
  static constexpr size_t kLooked = 8;

  Collectives(const StepInput& in, const Steps& steps)
      : ops_(in.trace.ops), steps_(steps.steps), of_step_(steps.steps.size()) {
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const uint32_t s = steps.step_of_op[i];
      if (s == kNone || in.classes.of_op[i] != Category::kCommunication) {
        continue;
      }
      Few& few = of_step_[s];
      if (few.count < kLooked) few.op[few.count++] = i;
    }
  }

  // The k-th collective's duration from the step's begin on: a receive that
  // waits on a lane of its own before the step begins costs it nothing. Absent
  // if the step has fewer, or if it is not the one called `name`.
  std::optional<int64_t> Duration(size_t step, size_t k, NameId name) const {
    const Few& few = of_step_[step];
    if (k >= few.count || ops_.name[few.op[k]] != name) return std::nullopt;
    const uint32_t op = few.op[k];
    const int64_t begin = std::max(ops_.start_ns[op], steps_[step].begin_ns);
    return std::max<int64_t>(0, SaturatingSub(ops_.end_ns(op), begin));
  }
  size_t Count(size_t step) const { return of_step_[step].count; }
  NameId Name(size_t step, size_t k) const {
    return ops_.name[of_step_[step].op[k]];
  }

 private:
  struct Few {
    std::array<uint32_t, kLooked> op;
    size_t count = 0;
  };
  const GpuOps& ops_;
  const std::vector<Step>& steps_;
  std::vector<Few> of_step_;
};

/// The first step and those to hold against it.
struct First {
  size_t step = 0;
  std::vector<size_t> others;  // used steps of its group with a wall
  int64_t usual_wall_ns = 0;   // their median
};

std::optional<First> FirstOf(const Steps& steps) {
  First first;
  while (first.step < steps.steps.size() && !IsUsed(steps.steps[first.step])) {
    ++first.step;
  }
  if (first.step == steps.steps.size()) return std::nullopt;
  std::vector<int64_t> walls;
  for (size_t k = first.step + 1; k < steps.steps.size(); ++k) {
    const Step& step = steps.steps[k];
    if (!IsUsed(step) || !step.next_begin_ns) continue;
    if (step.group != steps.steps[first.step].group) continue;
    first.others.push_back(k);
    walls.push_back(WallOf(step));
  }
  if (walls.empty()) return std::nullopt;
  first.usual_wall_ns = *MedianOf(std::move(walls));
  return first;
}

// Ranks enter the traced region at different times. The first collective of
// the early one lasts until the others come: no step's cost. It must be four
// times what the same collective takes in the other steps, and a fiftieth of
// a step more; a rank that is late in every step stays.
void ExcludeEarlyRank(const StepInput& in, Steps& steps) {
  const std::optional<First> first = FirstOf(steps);
  if (!first) return;
  const Collectives collectives(in, steps);
  int64_t excess = 0, waited = 0, usual = 0;
  for (size_t k = 0; k < collectives.Count(first->step); ++k) {
    const NameId name = collectives.Name(first->step, k);
    std::vector<int64_t> same;
    for (const size_t other : first->others) {
      const auto dur = collectives.Duration(other, k, name);
      if (dur) same.push_back(*dur);
    }
    const std::optional<int64_t> median = MedianOf(std::move(same));
    if (!median) continue;
    const int64_t dur = *collectives.Duration(first->step, k, name);
    if (dur - *median <= excess || dur / 4 < *median) continue;
    excess = dur - *median;
    waited = dur;
    usual = *median;
  }
  if (excess == 0 || excess < first->usual_wall_ns / 50) return;
  Exclude(steps.steps[first->step], "rank-entered-early",
          fmt::format("a collective took {} where the same one takes {} in the "
                      "other steps: the rank waited for another to enter the "
                      "traced region",
                      Milliseconds(waited), Milliseconds(usual)));
}

// Time within each wall when no op of the device runs.
std::vector<int64_t> IdleOf(const Trace& trace, const Steps& steps) {
  std::vector<int64_t> idle(steps.steps.size(), 0);
  size_t k = 0;
  int64_t reached = INT64_MIN;
  const auto add = [&](int64_t from, int64_t to) {
    // A gap can span several walls; k only moves on.
    while (k < steps.steps.size()) {
      const Step& step = steps.steps[k];
      const int64_t end = step.next_begin_ns.value_or(INT64_MAX);
      const int64_t a = std::max(from, step.begin_ns), b = std::min(to, end);
      if (b > a) idle[k] = SaturatingAdd(idle[k], SaturatingSub(b, a));
      if (end > to) break;
      ++k;
    }
  };
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const int64_t start = trace.ops.start_ns[i];
    if (reached != INT64_MIN && start > reached) add(reached, start);
    reached = std::max(reached, trace.ops.end_ns(i));
  }
  return idle;
}

// Starting the profiler (loading its libraries, allocating buffers) delays the
// host in the first step; the GPU idles for it. That must be a tenth of a
// step, and most of what the step takes more.
void ExcludeProfilerStart(const StepInput& in, Steps& steps) {
  const std::optional<First> first = FirstOf(steps);
  if (!first || first->others.size() < 2 || first->step > 1) return;
  Step& step = steps.steps[first->step];
  const int64_t more_wall = SaturatingSub(WallOf(step), first->usual_wall_ns);
  if (more_wall < first->usual_wall_ns / 10) return;
  const std::vector<int64_t> idle = IdleOf(in.trace, steps);
  std::vector<int64_t> usual;
  for (const size_t other : first->others) usual.push_back(idle[other]);
  const int64_t more_idle =
      SaturatingSub(idle[first->step], *MedianOf(std::move(usual)));
  if (more_idle < more_wall / 2 || more_idle < first->usual_wall_ns / 10) {
    return;
  }
  Exclude(step, "profiler-first-step",
          fmt::format("the GPU idled {} more than in the other steps while the "
                      "profiler started",
                      Milliseconds(more_idle)));
}

void ExcludeLast(Steps& steps) {
  const auto used = std::count_if(steps.steps.begin(), steps.steps.end(),
                                  [](const Step& s) { return IsUsed(s); });
  if (steps.steps.empty() || steps.steps.back().next_begin_ns || used < 2) {
    return;
  }
  Exclude(steps.steps.back(), "no-successor",
          "no step follows that would end its wall time");
}

}  // namespace

void ForgetLossesOfOtherShapes(Steps& steps) {
  std::map<uint64_t, std::set<WorkKey>> whole_in;  // by signature
  const auto has_shape = [&](const Replay& replay) {
    return replay.step != kNone &&
           steps.steps[replay.step].shape.batch.has_value();
  };
  for (const Replay& replay : steps.replays) {
    if (replay.missing_ops == 0 && has_shape(replay))
      whole_in[replay.signature].insert(WorkOf(steps.steps[replay.step].shape));
  }
  for (Replay& replay : steps.replays) {
    if (replay.missing_ops == 0 || !has_shape(replay)) continue;
    const auto found = whole_in.find(replay.signature);
    if (found != whole_in.end() &&
        !found->second.contains(WorkOf(steps.steps[replay.step].shape)))
      replay.missing_ops = 0;
  }
}

void ExcludeSteps(const StepInput& in, Steps& steps) {
  ExcludeIdle(steps);
  ExcludeOtherContent(steps);
  ExcludeEarlyRank(in, steps);
  ExcludeProfilerStart(in, steps);
  ExcludeLast(steps);
}

}  // namespace inferdiff
