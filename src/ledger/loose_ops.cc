// SPDX-License-Identifier: Apache-2.0
#include "ledger/loose_ops.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ledger/step_ops.h"

namespace inferdiff {

void FillLoose(const Trace& trace, const Steps& steps, const KernelTable& table,
               LedgerResult* ledger) {
  const uint32_t step = ledger->representative_step;
  const Step& of = steps.steps[step];
  std::vector<uint32_t> number(table.kernels().size(), kNone);
  const std::vector<int64_t>& starts = trace.ops.start_ns;
  const auto first =
      step == 0 ? starts.begin()
                : std::lower_bound(starts.begin(), starts.end(), of.begin_ns);
  for (auto op = static_cast<uint32_t>(first - starts.begin());
       op < trace.ops.size(); ++op) {
    if (steps.step_of_op[op] != kNone) continue;
    const int64_t start = trace.ops.start_ns[op];
    if (of.next_begin_ns && start >= *of.next_begin_ns) break;
    if (FarApart(start, of.begin_ns)) continue;
    const uint32_t kernel = table.KernelOf(op);
    if (number[kernel] == kNone) {
      number[kernel] = static_cast<uint32_t>(ledger->loose_kernels.size());
      const KernelTable::Kernel& row = table.kernels()[kernel];
      ledger->loose_kernels.push_back({row.name->family, row.category});
    }
    ledger->loose.push_back({.ordinal = trace.ops.ordinal[op],
                             .start_ns = start - of.begin_ns,
                             .kernel = number[kernel],
                             .lane = steps.normal_lane[op]});
  }
}

}  // namespace inferdiff
