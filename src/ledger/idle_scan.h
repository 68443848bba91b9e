// SPDX-License-Identifier: Apache-2.0
// The time of a step in which none of its ops runs: others' ops and idle.
//
//   own ops    [A...]                  [B...........]
//   others             [X..]
//   replays   |<------------->|       |<------...
//   foreign            XXXX
//   idle            ii     iiioooooooo
//                   inside    outside, waiting for B
//
// Outside replays, by where it lies and what it waits for:
//
//   replays           |<--->|      |<--->|                         |<--- next
//   launched alone                          [sample] [copy]
//   idle         rest        between       t        t       rest
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/by_group.h"
#include "ledger/launch_causes.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// All within the step's window; busy + foreign + idle = its length.
struct IdleAmounts {
  int64_t busy = 0;     // union of own ops, found apart from the share sweep
  int64_t foreign = 0;  // others' ops where no own op runs
  int64_t idle = 0;     // no op of the device runs
  int64_t idle_inside = 0;  // of it, within one of the step's replays
  /// The same by what the next op of its replays to start does; the last one,
  /// behind all.
  std::array<int64_t, kCycleParts> inside_before{};
  // The rest of the idle time. Waited for is the step's next op to start, or
  // else the op that begins the next step; of several that start together, the
  // one launched first.
  LaunchCauses between;  // behind a replay of the step, in front of another one
  LaunchCauses tail;     // elsewhere, waiting for an op that is in no replay
  LaunchCauses rest;     // waiting for a replay; all of a step without replays
};

class IdleScan {
 public:
  /// Linear in ops and steps.
  explicit IdleScan(const StepOps& index);

  /// Linear in the ops that start in the step's window.
  IdleAmounts Run(uint32_t step) const;

  /// First start to last end of the step's replay with most ops; 0 without
  /// one.
  int64_t LargestReplaySpan(uint32_t step) const;

 private:
  struct Interval {
    int64_t begin, end;
  };
  class Waits;

  std::vector<Interval> ReplaysOf(uint32_t step) const;
  /// Of the ops from `first` on that start at the same time and belong to the
  /// step, or to the step that begins then, the one launched first.
  struct Awaited {
    std::optional<int64_t> launch;  // start of its launch call
    bool replayed = false;
  };
  Awaited FirstLaunch(size_t first, uint32_t step) const;

  const StepOps& index_;
  std::vector<int64_t> reach_;  // by step: last end of the ops before `begin`
  ByGroup replays_;             // by step
};

}  // namespace inferdiff
