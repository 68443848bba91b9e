// SPDX-License-Identifier: Apache-2.0
#include "ledger/step_ops.h"

#include <algorithm>
#include <tuple>

namespace inferdiff {
namespace {

/// Place of each name that an op carries among all such, by text. Comparing
/// texts at every tie would let long names with equal heads cost too much.
std::vector<uint32_t> RankNames(const Trace& trace) {
  std::vector<bool> used(trace.names->size());
  for (const NameId name : trace.ops.name) used[name] = true;
  std::vector<NameId> order;
  for (NameId name = 0; name < used.size(); ++name)
    if (used[name]) order.push_back(name);
  const StringPool& names = *trace.names;
  std::sort(order.begin(), order.end(),
            [&](NameId a, NameId b) { return names[a] < names[b]; });
  std::vector<uint32_t> rank(used.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

}  // namespace

StepOps::StepOps(const Trace& trace, const Steps& steps,
                 const std::vector<bool>& wanted)
    : trace_(trace),
      steps_(steps),
      name_rank_(RankNames(trace)),
      by_step_(steps.steps.size(), trace.ops.size(),
               [&](size_t op) {
                 const uint32_t step = steps.step_of_op[op];
                 return step != kNone && wanted[step] ? step : kNone;
               }),
      is_wanted_(wanted) {
  for (uint32_t step = 0; step < wanted.size(); ++step) {
    if (wanted[step]) wanted_.push_back(step);
    SortTies(by_step_[step]);
  }
}

/// The model's order is by (start, end); only equal times need a look.
void StepOps::SortTies(std::span<uint32_t> ops) const {
  const GpuOps& all = trace_.ops;
  for (size_t from = 0; from < ops.size();) {
    size_t to = from + 1;
    while (to < ops.size() &&
           all.start_ns[ops[to]] == all.start_ns[ops[from]] &&
           all.dur_ns[ops[to]] == all.dur_ns[ops[from]])
      ++to;
    if (to - from > 1)
      std::sort(ops.begin() + from, ops.begin() + to,
                [&](uint32_t a, uint32_t b) { return SharesFirst(a, b); });
    from = to;
  }
}

bool StepOps::SharesFirst(uint32_t a, uint32_t b) const {
  if (steps_.normal_lane[a] != steps_.normal_lane[b])
    return steps_.normal_lane[a] < steps_.normal_lane[b];
  return KeepsLane(a, b);
}

bool StepOps::KeepsLane(uint32_t a, uint32_t b) const {
  const auto key = [&](uint32_t op) {
    return std::tuple(trace_.ops.start_ns[op], trace_.ops.dur_ns[op],
                      name_rank_[trace_.ops.name[op]], trace_.ops.ordinal[op],
                      op);
  };
  return key(a) < key(b);
}

StepWindow StepOps::window(uint32_t step) const {
  const Step& s = steps_.steps[step];
  if (s.next_begin_ns)
    return {s.begin_ns, std::max(s.begin_ns, *s.next_begin_ns)};
  int64_t end = s.begin_ns;
  for (const uint32_t op : of(step)) end = std::max(end, trace_.ops.end_ns(op));
  return {s.begin_ns, end};
}

}  // namespace inferdiff
