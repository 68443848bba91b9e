// SPDX-License-Identifier: Apache-2.0
#include "ledger/step_accounts.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/memory.h"

namespace inferdiff {
namespace {

void Require(bool holds, uint32_t step, const char* what) {
  if (!holds) throw ContractError(fmt::format("step {}: {}", step, what));
}

/// First start to last end, clipped nowhere.
int64_t SpanOf(const GpuOps& all, std::span<const uint32_t> ops,
               int64_t begin) {
  int64_t first = begin;
  int64_t last = begin;
  for (const uint32_t op : ops) {
    if (FarApart(all.start_ns[op], begin) || FarApart(all.end_ns(op), begin))
      continue;
    first = std::min(first, all.start_ns[op]);
    last = std::max(last, all.end_ns(op));
  }
  return last - first;
}

/// Bucket i holds [2^i, 2^(i+1)) ns, bucket 0 also 0 ns.
size_t BucketOf(int64_t duration) {
  return static_cast<size_t>(
      std::bit_width(static_cast<uint64_t>(duration) | 1) - 1);
}

}  // namespace

StepAccounts::StepAccounts(const StepOps& index, const IdleScan& idle,
                           const KernelTable& table)
    : index_(index),
      idle_(idle),
      table_(table),
      sweep_(index),
      kernels_(table.kernels().size()),
      exclusive_(table.family_of(), table.families().size(),
                 table.category_of(), kCategoryCount) {
  const auto communicates = [](const KernelTable::Kernel& kernel) {
    return kernel.category == Category::kCommunication;
  };
  const auto& kernels = table.kernels();
  if (std::none_of(kernels.begin(), kernels.end(), communicates)) return;
  watched_.resize(kernels.size());
  std::transform(kernels.begin(), kernels.end(), watched_.begin(),
                 communicates);
}

StepAmounts StepAccounts::Account(uint32_t step) {
  const std::span<const uint32_t> ops = index_.of(step);
  kernel_of_.clear();
  for (const uint32_t op : ops) kernel_of_.push_back(table_.KernelOf(op));
  sweep_.Watch(watched_);
  sweep_.Run(step, kernel_of_, &exclusive_);
  StepAmounts amounts;
  amounts.step = step;
  AddOps(step, &amounts);
  AddCalls(step);
  amounts.span = SpanOf(index_.trace().ops, ops, index_.window(step).begin);
  amounts.replay_span = idle_.LargestReplaySpan(step);
  amounts.busy = sweep_.busy_ns();
  amounts.copy_only = sweep_.copy_only_ns();

  const IdleAmounts idle = idle_.Run(step);
  amounts.foreign = idle.foreign;
  const int64_t wall = index_.window(step).length();
  Require(amounts.busy == idle.busy, step,
          "what its ops were given is not their union");
  Require(idle.foreign >= 0 && amounts.busy + idle.foreign + idle.idle == wall,
          step, "busy, foreign and idle time do not add up to the wall time");
  Require(idle.idle_inside + idle.between.total() + idle.tail.total() +
                  idle.rest.total() ==
              idle.idle,
          step, "the causes of idle time do not add up to it");
  AddCycle(step, idle);
  if (!index_.steps().steps[step].next_begin_ns) return amounts;
  amounts.wall = wall;
  amounts.idle = idle.idle;
  amounts.idle_inside = idle.idle_inside;
  for (const LaunchCauses& part : {idle.between, idle.tail, idle.rest}) {
    amounts.idle_host_late += part.host_late;
    amounts.idle_queued += part.queued;
    amounts.idle_unknown += part.unknown;
  }
  amounts.idle_between = idle.between;
  amounts.idle_tail = idle.tail;
  return amounts;
}

void StepAccounts::Merge(const StepAccounts& other) {
  for (size_t kernel = 0; kernel < kernels_.size(); ++kernel)
    kernels_[kernel].Add(other.kernels_[kernel]);
  exclusive_.Merge(other.exclusive_);
  for (size_t i = 0; i < histogram_.size(); ++i) {
    histogram_[i].count += other.histogram_[i].count;
    histogram_[i].sum_ns += other.histogram_[i].sum_ns;
  }
  unclipped_ns_ += other.unclipped_ns_;
  cycles_.Add(other.cycles_);
  const auto offset = static_cast<uint32_t>(segments_.size());
  for (Call call : other.calls_) {
    call.first_segment += offset;
    calls_.push_back(call);
  }
  segments_.insert(segments_.end(), other.segments_.begin(),
                   other.segments_.end());
}

void StepAccounts::Finish() {
  sweep_.Release();
  Free(&kernel_of_);
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.op < b.op; });
}

void StepAccounts::AddCycle(uint32_t step, const IdleAmounts& idle) {
  const StepCycle of = index_.CycleOf(step);
  Cycles cycle;
  cycle.steps[static_cast<size_t>(of.kind)] = 1;
  if (IsCycle(of.kind)) {
    cycle.wall_known = index_.steps().steps[step].next_begin_ns.has_value();
    cycle.cycles = 1;
    cycle.wall_ns = index_.window(step).length();
    for (size_t i = 0; i < kCycleParts; ++i)
      cycle.part_ns[i] = attributed_of_[i] + idle.inside_before[i];
    cycle.foreign_ns = idle.foreign;
    cycle.idle_ns = idle.idle - idle.idle_inside;
    cycle.drafts = cycle.least_drafts = cycle.most_drafts = of.drafts;
    cycle.marked = of.by_markers ? 1 : 0;
    cycle.verify_depth = of.verify_depth;
    cycle.draft_depth = of.draft_depth;
  }
  cycles_.Add(cycle);
}

void StepAccounts::AddCalls(uint32_t step) {
  using Stretch = CallStretches::Stretch;
  std::vector<Stretch> stretches = sweep_.stretches();
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const Stretch& a, const Stretch& b) {
                     return a.position < b.position;
                   });
  const std::span<const uint32_t> ops = index_.of(step);
  for (const Stretch& stretch : stretches) {
    const uint32_t op = ops[stretch.position];
    if (calls_.empty() || calls_.back().op != op)
      calls_.push_back({op, static_cast<uint32_t>(segments_.size()), 0});
    ++calls_.back().segments;
    segments_.push_back(stretch.segment);
  }
}

void StepAccounts::AddOps(uint32_t step, StepAmounts* amounts) {
  const GpuOps& all = index_.trace().ops;
  const std::span<const uint32_t> ops = index_.of(step);
  int64_t attributed = 0;
  attributed_of_ = {};
  bool hidden_is_sane = true;
  for (uint32_t position = 0; position < ops.size(); ++position) {
    const OpShare share = sweep_.Share(position);
    Amounts& kernel = kernels_[kernel_of_[position]];
    ++kernel.count;
    kernel.sum_ns += share.sum_ns;
    kernel.attributed_ns += share.attributed_ns;
    kernel.hidden_same_lane_ns += share.hidden_same_lane_ns;
    kernel.hidden_cross_lane_ns += share.hidden_cross_lane_ns;
    attributed += share.attributed_ns;
    attributed_of_[static_cast<size_t>(index_.PartOf(ops[position]))] +=
        share.attributed_ns;
    amounts->sum += share.sum_ns;
    amounts->hidden_same_lane += share.hidden_same_lane_ns;
    amounts->hidden_cross_lane += share.hidden_cross_lane_ns;
    hidden_is_sane &= share.attributed_ns >= 0 &&
                      share.hidden_same_lane_ns >= 0 &&
                      share.hidden_cross_lane_ns >= 0;
    const int64_t duration = all.dur_ns[ops[position]];
    HistogramBucket& bucket = histogram_[BucketOf(duration)];
    ++bucket.count;
    bucket.sum_ns += duration;
    unclipped_ns_ += duration;
    if (all.kind[ops[position]] == OpKind::kKernel) ++amounts->kernels;
  }
  amounts->ops = static_cast<int64_t>(ops.size());
  Require(hidden_is_sane, step, "an op was given more time than it ran");
  Require(attributed == sweep_.busy_ns(), step,
          "the attributed times do not add up to the busy time");
}

}  // namespace inferdiff
