// SPDX-License-Identifier: Apache-2.0
// The ops of each step, in the order in which ops share an instant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ledger/by_group.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// The time that a step owns. Without a successor it ends with the last of the
/// step's ops.
struct StepWindow {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t length() const { return end - begin; }
  int64_t Clip(int64_t time) const {
    return time < begin ? begin : (time > end ? end : time);
  }
};

/// Times farther apart (104 days) come from damaged timestamps, such as those
/// that a profiler clamped to 0: one such op must not spoil a sum over steps.
inline constexpr int64_t kFarAway = int64_t{1} << 53;
inline bool FarApart(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) || difference > kFarAway ||
         difference < -kFarAway;
}

/// Ops grouped by step: 4 bytes an op.
class StepOps {
 public:
  /// Groups the ops of the steps for which `wanted` is set.
  StepOps(const Trace& trace, const Steps& steps,
          const std::vector<bool>& wanted);

  /// Op indices sorted by (start, end, normalised lane, name, ordinal). An
  /// op's index in this list is its *position*.
  std::span<const uint32_t> of(uint32_t step) const { return by_step_[step]; }
  StepWindow window(uint32_t step) const;
  /// Steps that are grouped, in order.
  const std::vector<uint32_t>& wanted() const { return wanted_; }
  bool IsWanted(uint32_t step) const { return is_wanted_[step]; }
  /// Ops of all wanted steps, and of those in front of one.
  size_t size() const { return by_step_.size(); }
  size_t first(uint32_t step) const { return by_step_.first(step); }

  /// Where FindCycles has not been: kOther, and no cycle.
  CyclePart PartOf(uint32_t op) const {
    return steps_.part_of_op.empty() ? CyclePart::kOther
                                     : steps_.part_of_op[op];
  }
  StepCycle CycleOf(uint32_t step) const {
    return steps_.cycles.empty() ? StepCycle() : steps_.cycles[step];
  }

  /// Whether a keeps a lane against b: (start, end, name, ordinal).
  bool KeepsLane(uint32_t a, uint32_t b) const;

  const Trace& trace() const { return trace_; }
  const Steps& steps() const { return steps_; }

 private:
  bool SharesFirst(uint32_t a, uint32_t b) const;
  void SortTies(std::span<uint32_t> ops) const;

  const Trace& trace_;
  const Steps& steps_;
  std::vector<uint32_t> name_rank_;  // by NameId, order of the texts
  ByGroup by_step_;
  std::vector<uint32_t> wanted_;
  std::vector<bool> is_wanted_;  // by step
};

}  // namespace inferdiff
