// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/checked.h"
#include "ledger/ledger.h"

namespace inferdiff {

DeviceTotals TotalsOfDevice(const Trace& trace) {
  const GpuOps& ops = trace.ops;
  DeviceTotals totals;
  totals.rank = trace.info.rank;
  totals.device = trace.info.device;
  totals.graph_launches = trace.info.graph_launches;
  totals.ops = static_cast<int64_t>(ops.size());
  if (ops.size() == 0) return totals;
  const int64_t first = ops.start_ns.front();
  int64_t until = first;
  for (size_t op = 0; op < ops.size(); ++op) {
    const int64_t end = CheckedAdd(ops.start_ns[op], ops.dur_ns[op]);
    CheckedSub(end, first);
    totals.sum_ns = CheckedAdd(totals.sum_ns, ops.dur_ns[op]);
    if (ops.kind[op] == OpKind::kKernel) ++totals.kernels;
    if (end <= until) continue;
    totals.busy_ns += end - std::max(until, ops.start_ns[op]);
    until = end;
  }
  totals.span_ns = until - first;
  totals.idle_ns = totals.span_ns - totals.busy_ns;
  return totals;
}

}  // namespace inferdiff
