// SPDX-License-Identifier: Apache-2.0
// Who owns each nanosecond of a step's busy time: one sweep over its ops.
//
//   lane 0, kernels   [A.........]
//                          [B.........]      starts early, waits for A
//   lane 1, kernels             [C....]
//   lane 2, copies      [D................]
//
//   keeps lane 0       A A A A A A B B B
//   keeps lane 1                C C C
//   attributed        |A       |A,C|B,C| B|D   (D yields to kernels)
//
// On a lane the op with the smallest (start, end, name, ordinal) comes first
// and keeps the lane to its end, so that each op keeps it for one interval at
// most: from its start, or the end of the last keeper, to its own end. Kernels
// do not compete for a lane with copies (and memsets): copies have only the
// instants at which no kernel runs.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/memory.h"
#include "ledger/call_stretches.h"
#include "ledger/exclusive_time.h"
#include "ledger/sharer_set.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// How one op's time within its step's window is accounted for. The last three
/// add up to the first.
struct OpShare {
  int64_t sum_ns = 0;  // its clipped duration
  int64_t attributed_ns = 0;
  int64_t hidden_same_lane_ns = 0;
  int64_t hidden_cross_lane_ns = 0;
};

/// Sweeps one step after another in O(n log n) of the step's ops; the scratch
/// memory, 16 bytes an op of the largest step and 40 a lane, is reused.
class ShareSweep {
 public:
  explicit ShareSweep(const StepOps& index);

  /// Keeps the stretches of the kernels whose row is set from now on. The rows
  /// must outlive this; none: nothing is kept, and nothing spent on it.
  void Watch(std::span<const uint8_t> rows) { watched_ = rows; }

  /// `kernels` holds the kernel row of each position, for `exclusive` and the
  /// watched rows. Both may be empty where none is watched: then no exclusive
  /// time is kept.
  void Run(uint32_t step, std::span<const uint32_t> kernels,
           ExclusiveTime* exclusive);

  /// Frees the scratch memory: nothing of the last step is known afterwards.
  void Release() {
    Free(&attributed_);
    Free(&same_lane_);
  }

  /// Of the last step's op at this position.
  OpShare Share(uint32_t position) const;
  int64_t busy_ns() const { return busy_; }
  int64_t copy_only_ns() const { return copy_only_; }
  /// Of the last step's watched ops that run within its window.
  const std::vector<CallStretches::Stretch>& stretches() const {
    return stretches_.stretches();
  }

 private:
  enum class Change : uint8_t { kKeeperEnds, kHiddenEnds, kTakesLane };
  /// What happens to an op after it has started.
  struct Event {
    int64_t time;
    uint32_t position;
    Change change;
    /// Heap order; at equal times a keeper ends before the next takes over.
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : change > other.change;
    }
  };
  struct Lane {
    // End of the last keeper.
    int64_t kernel_until = std::numeric_limits<int64_t>::min();
    int64_t copy_until = std::numeric_limits<int64_t>::min();
    int64_t kernel_since = 0;  // when the present kernel took the lane
    int64_t kernel_time = 0;   // of kernels that have ended
    bool kernel_runs = false;
  };

  void Reset(uint32_t step);
  size_t StartOps(size_t next);
  bool RunsAlone(uint32_t position);
  void StartTie(size_t from, size_t to);
  void StartOp(uint32_t position);
  void TakeLane(uint32_t position);
  void Apply(const Event& event);
  void Push(int64_t time, uint32_t position, Change change);
  void Pass(int64_t dt);

  bool IsWatched(uint32_t position) const {
    return !watched_.empty() && watched_[kernels_of_[position]] != 0 &&
           IsKernel(position);
  }
  bool IsKernel(uint32_t position) const {
    return index_.trace().ops.kind[ops_[position]] == OpKind::kKernel;
  }
  Lane& LaneOf(uint32_t position) {
    return lanes_[index_.trace().ops.lane[ops_[position]]];
  }
  int64_t KernelTime(const Lane& lane) const {
    return lane.kernel_time + (lane.kernel_runs ? now_ - lane.kernel_since : 0);
  }

  const StepOps& index_;
  std::vector<Lane> lanes_;
  std::vector<int64_t> attributed_, same_lane_;
  std::vector<Event> events_;  // a heap
  std::span<const uint8_t> watched_;
  CallStretches stretches_;

  // The step being swept.
  std::span<const uint32_t> ops_, kernels_of_;
  ExclusiveTime* exclusive_ = nullptr;
  StepWindow window_;
  SharerSet kernels_, copies_;
  int64_t now_ = 0;
  int64_t busy_ = 0;
  int64_t copy_only_ = 0;
};

}  // namespace inferdiff
