// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"
#include "ledger/share_sweep.h"
#include "ledger/step_ops.h"

namespace inferdiff {

OpAmounts AmountsPerOp(const Trace& trace, const Steps& steps) {
  TotalsOfDevice(trace);  // refuses times that would overflow below
  const StepOps index(trace, steps,
                      std::vector<bool>(steps.steps.size(), true));
  ShareSweep sweep(index);
  OpAmounts amounts;
  amounts.attributed_ns.resize(trace.ops.size());
  amounts.hidden_same_lane_ns.resize(trace.ops.size());
  amounts.hidden_cross_lane_ns.resize(trace.ops.size());
  for (uint32_t step = 0; step < steps.steps.size(); ++step) {
    sweep.Run(step, {}, nullptr);
    const std::span<const uint32_t> ops = index.of(step);
    for (uint32_t position = 0; position < ops.size(); ++position) {
      const OpShare share = sweep.Share(position);
      amounts.attributed_ns[ops[position]] = share.attributed_ns;
      amounts.hidden_same_lane_ns[ops[position]] = share.hidden_same_lane_ns;
      amounts.hidden_cross_lane_ns[ops[position]] = share.hidden_cross_lane_ns;
    }
  }
  return amounts;
}

}  // namespace inferdiff
