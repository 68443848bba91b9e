// SPDX-License-Identifier: Apache-2.0
#include "ledger/share_sweep.h"

#include <algorithm>

namespace inferdiff {

ShareSweep::ShareSweep(const StepOps& index)
    : index_(index), lanes_(index.trace().lanes.size()) {}

void ShareSweep::Run(uint32_t step, std::span<const uint32_t> kernels,
                     ExclusiveTime* exclusive) {
  kernels_of_ = kernels;
  exclusive_ = exclusive;
  Reset(step);
  const GpuOps& all = index_.trace().ops;
  for (size_t next = 0; next < ops_.size() || !events_.empty();) {
    int64_t time = std::numeric_limits<int64_t>::max();
    if (next < ops_.size()) time = window_.Clip(all.start_ns[ops_[next]]);
    if (!events_.empty()) time = std::min(time, events_.front().time);
    if (time > now_) Pass(time - now_);
    now_ = time;
    while (!events_.empty() && events_.front().time == now_) {
      std::pop_heap(events_.begin(), events_.end());
      const Event event = events_.back();
      events_.pop_back();
      Apply(event);
    }
    next = StartOps(next);
  }
}

OpShare ShareSweep::Share(uint32_t position) const {
  const GpuOps& all = index_.trace().ops;
  const uint32_t op = ops_[position];
  OpShare share;
  share.sum_ns = window_.Clip(all.end_ns(op)) - window_.Clip(all.start_ns[op]);
  share.attributed_ns = attributed_[position];
  share.hidden_same_lane_ns = same_lane_[position];
  share.hidden_cross_lane_ns =
      share.sum_ns - share.attributed_ns - share.hidden_same_lane_ns;
  return share;
}

void ShareSweep::Reset(uint32_t step) {
  ops_ = index_.of(step);
  window_ = index_.window(step);
  // Lanes of other steps keep their old state: clearing all of them for every
  // step would be quadratic where each replay gets its own.
  for (const uint32_t op : ops_) lanes_[index_.trace().ops.lane[op]] = Lane{};
  attributed_.assign(ops_.size(), 0);
  same_lane_.assign(ops_.size(), 0);
  kernels_ = SharerSet(attributed_);
  copies_ = SharerSet(attributed_);
  stretches_.Reset(ops_.size());
  now_ = window_.begin;
  busy_ = copy_only_ = 0;
}

/// Starts all ops that are due now; returns the first that is not.
size_t ShareSweep::StartOps(size_t next) {
  const GpuOps& all = index_.trace().ops;
  while (next < ops_.size()) {
    const int64_t start = all.start_ns[ops_[next]];
    if (window_.Clip(start) != now_) break;
    const size_t from = next++;
    if (RunsAlone(static_cast<uint32_t>(from))) continue;
    while (next < ops_.size() && all.start_ns[ops_[next]] == start &&
           all.dur_ns[ops_[next]] == all.dur_ns[ops_[from]])
      ++next;
    if (next - from == 1) {
      StartOp(static_cast<uint32_t>(from));
    } else {
      StartTie(from, next);
    }
  }
  return next;
}

/// Most ops start when nothing runs and end before the next one starts: they
/// get all their time, and no other op needs to know of them.
bool ShareSweep::RunsAlone(uint32_t position) {
  const GpuOps& all = index_.trace().ops;
  const int64_t end = window_.Clip(all.end_ns(ops_[position]));
  if (!events_.empty() ||
      (position + 1 < ops_.size() &&
       window_.Clip(all.start_ns[ops_[position + 1]]) < end))
    return false;
  const int64_t dt = end > now_ ? end - now_ : 0;
  attributed_[position] = dt;
  busy_ += dt;
  if (!IsKernel(position)) copy_only_ += dt;
  if (exclusive_ != nullptr) exclusive_->Alone(kernels_of_[position], dt);
  if (IsWatched(position)) stretches_.Add(position, {dt, 0, 0, Sole::kKernel});
  return true;
}

/// Positions are in the order in which lanes share; who keeps one lane is
/// decided without the normalised lane, which may differ on it.
void ShareSweep::StartTie(size_t from, size_t to) {
  std::vector<uint32_t> positions;
  for (size_t i = from; i < to; ++i)
    positions.push_back(static_cast<uint32_t>(i));
  std::sort(positions.begin(), positions.end(), [&](uint32_t a, uint32_t b) {
    return index_.KeepsLane(ops_[a], ops_[b]);
  });
  for (const uint32_t position : positions) StartOp(position);
}

// What the same lane hides of a copy: the kernel time of its lane, and of the
// time without any kernel (copy_only_) what it does not keep its lane. Both
// are running totals, subtracted at the start of an interval and added at its
// end.
void ShareSweep::StartOp(uint32_t position) {
  const int64_t end = window_.Clip(index_.trace().ops.end_ns(ops_[position]));
  if (end <= now_) return;
  if (exclusive_ != nullptr) exclusive_->Start(kernels_of_[position]);
  Lane& lane = LaneOf(position);
  const bool is_kernel = IsKernel(position);
  int64_t& until = is_kernel ? lane.kernel_until : lane.copy_until;
  const int64_t takes = std::clamp(until, now_, end);
  same_lane_[position] =
      is_kernel ? takes - now_ : -(KernelTime(lane) + copy_only_);
  if (IsWatched(position))
    stretches_.Add(position, {0, same_lane_[position], 0, Sole::kNo});
  if (takes == end) {
    Push(end, position, Change::kHiddenEnds);
    return;
  }
  until = end;
  Push(end, position, Change::kKeeperEnds);
  if (takes == now_) {
    TakeLane(position);
  } else {
    Push(takes, position, Change::kTakesLane);
  }
}

void ShareSweep::TakeLane(uint32_t position) {
  if (!IsKernel(position)) {
    same_lane_[position] += copy_only_;
    copies_.Add(position);
    return;
  }
  Lane& lane = LaneOf(position);
  lane.kernel_runs = true;
  lane.kernel_since = now_;
  kernels_.Add(position);
  if (IsWatched(position)) stretches_.Share(position, now_);
}

void ShareSweep::Apply(const Event& event) {
  const uint32_t position = event.position;
  if (event.change == Change::kTakesLane) {
    TakeLane(position);
    return;
  }
  if (exclusive_ != nullptr) exclusive_->End(kernels_of_[position]);
  const bool kept = event.change == Change::kKeeperEnds;
  Lane& lane = LaneOf(position);
  if (!IsKernel(position)) {
    same_lane_[position] += KernelTime(lane) + (kept ? 0 : copy_only_);
    if (kept) copies_.Remove(position);
  } else if (kept) {
    lane.kernel_time = KernelTime(lane);
    lane.kernel_runs = false;
    kernels_.Remove(position);
    if (IsWatched(position)) {
      const OpShare share = Share(position);
      stretches_.End(position, now_, share.sum_ns - share.hidden_same_lane_ns,
                     share.attributed_ns);
    }
  }
}

void ShareSweep::Push(int64_t time, uint32_t position, Change change) {
  events_.push_back({time, position, change});
  std::push_heap(events_.begin(), events_.end());
}

void ShareSweep::Pass(int64_t dt) {
  if (kernels_.empty() && copies_.empty()) return;
  busy_ += dt;
  if (exclusive_ != nullptr) exclusive_->Pass(dt);
  if (!watched_.empty()) stretches_.Pass(now_, kernels_, exclusive_->sole());
  if (!kernels_.empty()) {
    kernels_.Deal(dt);
  } else {
    copies_.Deal(dt);
    copy_only_ += dt;
  }
}

}  // namespace inferdiff
