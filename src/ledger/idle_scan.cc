// SPDX-License-Identifier: Apache-2.0
#include "ledger/idle_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace inferdiff {

/// Sorts idle time into inside and outside replays. What is outside is kept
/// until the next op of the step shows what it waited for.
class IdleScan::Waits {
 public:
  Waits(std::vector<Interval> replays, IdleAmounts* amounts)
      : replays_(std::move(replays)), amounts_(*amounts) {}

  /// Nothing runs in [begin, end); calls come in order of time.
  void Idle(int64_t begin, int64_t end) {
    amounts_.idle += end - begin;
    while (begin < end) {
      while (next_ < replays_.size() && replays_[next_].end <= begin) ++next_;
      const bool between = next_ > 0 && next_ < replays_.size();
      if (next_ == replays_.size() || replays_[next_].begin >= end) {
        pending_.push_back({{begin, end}, between});
        return;
      }
      const Interval& replay = replays_[next_];
      if (replay.begin > begin)
        pending_.push_back({{begin, replay.begin}, between});
      const int64_t until = std::min(end, replay.end);
      amounts_.idle_inside += until - std::max(begin, replay.begin);
      inside_ += until - std::max(begin, replay.begin);
      begin = until;
    }
  }

  /// An op of one of the replays starts.
  void Start(CyclePart part) {
    part_ = static_cast<size_t>(part);
    Finish();
  }
  void Finish() {
    amounts_.inside_before[part_] += inside_;
    inside_ = 0;
  }

  bool pending() const { return !pending_.empty(); }

  void Settle(Awaited op) {
    LaunchCauses& around =
        op.replayed || replays_.empty() ? amounts_.rest : amounts_.tail;
    for (const Pending& idle : pending_) {
      LaunchCauses& causes = idle.between ? amounts_.between : around;
      const auto& [begin, end] = idle.time;
      const int64_t late =
          op.launch ? std::clamp(*op.launch, begin, end) - begin : 0;
      causes.host_late += late;
      (op.launch ? causes.queued : causes.unknown) += end - begin - late;
    }
    pending_.clear();
  }

 private:
  struct Pending {
    Interval time;
    bool between = false;  // two replays of the step
  };

  std::vector<Interval> replays_;  // disjoint, in order of time
  size_t next_ = 0;
  std::vector<Pending> pending_;
  int64_t inside_ = 0;  // since an op of a replay started
  size_t part_ = 0;     // of that
  IdleAmounts& amounts_;
};

IdleScan::IdleScan(const StepOps& index)
    : index_(index),
      replays_(index.steps().steps.size(), index.steps().replays.size(),
               [&](size_t i) { return index.steps().replays[i].step; }) {
  const GpuOps& all = index.trace().ops;
  int64_t reach = std::numeric_limits<int64_t>::min();
  size_t op = 0;
  for (const Step& step : index.steps().steps) {  // by begin
    for (; op < all.size() && all.start_ns[op] < step.begin_ns; ++op)
      reach = std::max(reach, all.end_ns(op));
    reach_.push_back(reach);
  }
}

IdleAmounts IdleScan::Run(uint32_t step) const {
  const GpuOps& all = index_.trace().ops;
  const StepWindow window = index_.window(step);
  IdleAmounts amounts;
  Waits waits(ReplaysOf(step), &amounts);
  // Time up to which some op, some own op, has been seen to run.
  int64_t all_until = window.Clip(reach_[step]);
  int64_t own_until = window.begin;
  for (const uint32_t op : index_.of(step)) {
    if (all.start_ns[op] >= window.begin) break;
    own_until = std::max(own_until, window.Clip(all.end_ns(op)));
  }
  int64_t covered = all_until - window.begin;
  amounts.busy = own_until - window.begin;
  const auto from =
      std::lower_bound(all.start_ns.begin(), all.start_ns.end(), window.begin);
  size_t op = static_cast<size_t>(from - all.start_ns.begin());
  for (; op < all.size() && all.start_ns[op] < window.end; ++op) {
    const int64_t start = all.start_ns[op];
    const int64_t end = window.Clip(all.end_ns(op));
    const bool own = index_.steps().step_of_op[op] == step;
    if (start > all_until) {
      waits.Idle(all_until, start);
      all_until = start;
    }
    if (own && waits.pending()) waits.Settle(FirstLaunch(op, step));
    covered += std::max<int64_t>(0, end - all_until);
    all_until = std::max(all_until, end);
    if (!own) continue;
    if (index_.steps().replay_of_op[op] != kNone)
      waits.Start(index_.PartOf(static_cast<uint32_t>(op)));
    amounts.busy += std::max<int64_t>(0, end - std::max(own_until, start));
    own_until = std::max(own_until, end);
  }
  if (window.end > all_until) waits.Idle(all_until, window.end);
  waits.Finish();
  const bool starts_at_end = op < all.size() && all.start_ns[op] == window.end;
  waits.Settle(starts_at_end ? FirstLaunch(op, step) : Awaited{});
  amounts.foreign = covered - amounts.busy;
  return amounts;
}

std::vector<IdleScan::Interval> IdleScan::ReplaysOf(uint32_t step) const {
  std::vector<Interval> merged;
  for (const uint32_t i : replays_[step]) {
    const Replay& replay = index_.steps().replays[i];
    if (!merged.empty() && replay.begin_ns <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, replay.end_ns);
    } else {
      merged.push_back({replay.begin_ns, replay.end_ns});
    }
  }
  return merged;
}

int64_t IdleScan::LargestReplaySpan(uint32_t step) const {
  int64_t ops = 0;
  int64_t span = 0;
  for (const uint32_t i : replays_[step]) {
    const Replay& replay = index_.steps().replays[i];
    if (replay.ops <= ops) continue;
    ops = replay.ops;
    span = replay.end_ns - replay.begin_ns;
  }
  return span;
}

IdleScan::Awaited IdleScan::FirstLaunch(size_t first, uint32_t step) const {
  const Trace& trace = index_.trace();
  const Steps& steps = index_.steps();
  Awaited awaited;
  for (size_t op = first; op < trace.ops.size() &&
                          trace.ops.start_ns[op] == trace.ops.start_ns[first];
       ++op) {
    const uint32_t owner = steps.step_of_op[op];
    if (owner == kNone) continue;
    if (owner != step && steps.steps[owner].begin_ns != trace.ops.start_ns[op])
      continue;
    Awaited one{std::nullopt, steps.replay_of_op[op] != kNone};
    if (const uint32_t launch = trace.ops.launch[op]; launch != kNone)
      one.launch = trace.calls.start_ns[launch];
    if (one.launch == awaited.launch)
      awaited.replayed |= one.replayed;
    else if (one.launch && (!awaited.launch || one.launch < awaited.launch))
      awaited = one;
  }
  return awaited;
}

}  // namespace inferdiff
