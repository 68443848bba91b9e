// SPDX-License-Identifier: Apache-2.0
#include "readers/repeated_records.h"

namespace inferdiff {
namespace {

/// Ops are sorted by (start, end, lane): equal ones are at most kLookBack
/// others of the same place and time apart.
bool RepeatsOneBefore(const GpuOps& ops, size_t i) {
  if (ops.dur_ns[i] == 0) return false;
  for (size_t k = i; k-- > 0 && i - k <= kLookBack;) {
    if (ops.start_ns[k] != ops.start_ns[i] || ops.dur_ns[k] != ops.dur_ns[i] ||
        ops.lane[k] != ops.lane[i])
      return false;
    if (ops.name[k] == ops.name[i] &&
        ops.correlation[k] == ops.correlation[i] && ops.kind[k] == ops.kind[i])
      return true;
  }
  return false;
}

template <typename T>
void Compact(const std::vector<uint8_t>& dropped, std::vector<T>* column) {
  size_t kept = 0;
  for (size_t i = 0; i < column->size(); ++i)
    if (dropped[i] == 0) (*column)[kept++] = (*column)[i];
  column->resize(kept);
}

size_t DropOps(Trace* trace) {
  GpuOps& ops = trace->ops;
  size_t first = 1;
  while (first < ops.size() && !RepeatsOneBefore(ops, first)) ++first;
  if (first >= ops.size()) return 0;
  std::vector<uint8_t> dropped(ops.size(), 0);
  std::vector<uint32_t> number(ops.size());
  uint32_t kept = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    dropped[i] = RepeatsOneBefore(ops, i) ? 1 : 0;
    number[i] = dropped[i] != 0 ? kNone : kept++;
  }
  Compact(dropped, &ops.start_ns);
  Compact(dropped, &ops.dur_ns);
  Compact(dropped, &ops.correlation);
  Compact(dropped, &ops.ordinal);
  Compact(dropped, &ops.name);
  Compact(dropped, &ops.lane);
  Compact(dropped, &ops.launch);
  Compact(dropped, &ops.kind);
  std::vector<OpGroup> groups;
  for (OpGroup group : trace->op_groups) {
    group.op = number[group.op];
    if (group.op != kNone) groups.push_back(group);
  }
  trace->op_groups = std::move(groups);
  return dropped.size() - ops.size();
}

}  // namespace

void DropRepeatedRecords(Trace* trace, ImportCounters* counters) {
  const size_t ops = DropOps(trace);
  trace->capture.repeated_ops = static_cast<int64_t>(ops);
  const size_t ranges = DropRepeated(
      &trace->annotations, [](const Annotation& one) { return one.start_ns; },
      [](const Annotation& a, const Annotation& b) {
        return a.dur_ns == b.dur_ns && a.dur_ns > 0 && a.name == b.name &&
               a.where == b.where && a.on_gpu == b.on_gpu;
      });
  if (ops + ranges > 0) counters->Add(Counter::kRepeatedRecord, ops + ranges);
}

}  // namespace inferdiff
