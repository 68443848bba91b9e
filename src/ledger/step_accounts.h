// SPDX-License-Identifier: Apache-2.0
// Step by step: the amounts of each, and what they add up to per kernel.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ledger/exclusive_time.h"
#include "ledger/idle_scan.h"
#include "ledger/kernel_table.h"
#include "ledger/ledger.h"
#include "ledger/share_sweep.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// Accounts for steps in any order; the sums do not depend on it.
class StepAccounts {
 public:
  /// A communication kernel's call, and where its segments are.
  struct Call {
    uint32_t op = 0;
    uint32_t first_segment = 0;
    uint32_t segments = 0;
  };

  /// All three must outlive this.
  StepAccounts(const StepOps& index, const IdleScan& idle,
               const KernelTable& table);

  /// Throws ContractError where the step's amounts do not add up.
  StepAmounts Account(uint32_t step);

  /// Adds what another has accounted for.
  void Merge(const StepAccounts& other);

  /// To be called behind the last step: what only steps need is freed.
  void Finish();

  // Over all steps so far, by kernel, family and category of the table.
  const std::vector<Amounts>& kernels() const { return kernels_; }
  const ExclusiveTime& exclusive() const { return exclusive_; }
  const std::array<HistogramBucket, 63>& histogram() const {
    return histogram_;
  }
  /// Durations of the steps' ops, not clipped.
  int64_t unclipped_ns() const { return unclipped_ns_; }
  /// Calls that run within their step's window; by op, after Finish.
  const std::vector<Call>& calls() const { return calls_; }
  /// In the order of steps, and within one of `calls`; gone afterwards.
  std::vector<CallSegment> TakeSegments() { return std::move(segments_); }
  const Cycles& cycles() const { return cycles_; }

 private:
  void AddOps(uint32_t step, StepAmounts* amounts);
  void AddCalls(uint32_t step);
  void AddCycle(uint32_t step, const IdleAmounts& idle);

  const StepOps& index_;
  const IdleScan& idle_;
  const KernelTable& table_;
  ShareSweep sweep_;
  std::vector<uint32_t> kernel_of_;  // by position of the present step
  std::vector<Amounts> kernels_;
  ExclusiveTime exclusive_;
  std::array<HistogramBucket, 63> histogram_{};
  int64_t unclipped_ns_ = 0;
  std::array<int64_t, kCycleParts> attributed_of_{};  // of the present step
  Cycles cycles_;
  std::vector<uint8_t> watched_;  // by kernel; none where none is watched
  std::vector<Call> calls_;
  std::vector<CallSegment> segments_;
};

}  // namespace inferdiff
