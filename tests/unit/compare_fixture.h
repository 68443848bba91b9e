// SPDX-License-Identifier: Apache-2.0
// Ledger results made by hand, for the tests of what is built on them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {

/// A ledger whose steps all run the same operations one after another.
class FakeLedger {
 public:
  explicit FakeLedger(int64_t steps, StepKind kind = StepKind::kDecode) {
    ledger_.used_steps = steps;
    ledger_.steps.evidence = Evidence::kMarkers;
    ledger_.steps.groups = {{}};
    StepGroup& group = ledger_.steps.groups[0];
    group.shape = {kind, 4, 4, 8192};
    group.steps = group.used = static_cast<uint32_t>(steps);
    ledger_.steps.steps.resize(static_cast<size_t>(steps));
    ledger_.source.label = "fake";
    ledger_.source.info.gpu_name = "GPU";
  }

  /// Totals over all steps; `same` and `cross` of the sum are hidden.
  FakeLedger& Kernel(const std::string& family, Category category,
                     int64_t count, int64_t sum, int64_t same = 0,
                     int64_t cross = 0) {
    KernelRow row;
    row.name = family + "<1>";
    row.family = family;
    row.category = category;
    row.amounts = {count, sum, sum - same - cross, 0, same, cross};
    row.call_ns = Summarise(
        std::vector<int64_t>(static_cast<size_t>(count), sum / count));
    Amounts& total = ledger_.categories[static_cast<size_t>(category)];
    total.count += count;
    total.sum_ns += sum;
    total.attributed_ns += row.amounts.attributed_ns;
    total.hidden_same_lane_ns += same;
    total.hidden_cross_lane_ns += cross;
    ledger_.kernels.push_back(std::move(row));
    return *this;
  }

  /// What communication waits over all steps; before Walls.
  FakeLedger& Wait(WaitBasis basis, int64_t sum, int64_t same = 0,
                   int64_t cross = 0) {
    ledger_.rank_wait = {1, sum, sum - same - cross, 0, same, cross};
    ledger_.wait_basis = basis;
    return *this;
  }

  /// One op of the representative step, on the replay unless it is kNone.
  FakeLedger& Op(uint32_t kernel, int64_t start, int64_t dur,
                 uint32_t replay = 0, int64_t same = 0, int64_t cross = 0) {
    SequenceOp op;
    op.start_ns = start;
    op.dur_ns = dur;
    op.attributed_ns = dur - same - cross;
    op.hidden_same_lane_ns = same;
    op.hidden_cross_lane_ns = cross;
    op.kernel = kernel;
    op.replay = replay;
    ledger_.sequence.push_back(op);
    return *this;
  }

  /// Idle and foreign totals over the steps; the wall follows.
  FakeLedger& Walls(int64_t idle_inside, int64_t idle_outside,
                    int64_t foreign) {
    int64_t busy = ledger_.rank_wait.attributed_ns;
    for (const Amounts& row : ledger_.categories) busy += row.attributed_ns;
    Set(busy + idle_inside + idle_outside + foreign, &PerStep::wall);
    Set(idle_inside + idle_outside, &PerStep::idle);
    Set(idle_inside, &PerStep::idle_inside);
    Set(foreign, &PerStep::foreign);
    return *this;
  }

  /// A total that is spread over the steps as evenly as integers allow.
  FakeLedger& Set(int64_t total, Stat PerStep::*member) {
    std::vector<int64_t> samples;
    for (int64_t left = ledger_.used_steps; left > 0; --left) {
      samples.push_back(total / left);
      total -= samples.back();
    }
    ledger_.per_step.*member = Summarise(samples);
    return *this;
  }

  LedgerResult& get() { return ledger_; }

 private:
  LedgerResult ledger_;
};

}  // namespace inferdiff
