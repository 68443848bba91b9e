// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_groups.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace inferdiff {
namespace {

/// The op made of this record, by the order of the model.
uint32_t OpOf(const EventRecord& record, uint32_t lane, const GpuOps& ops) {
  const std::tuple wanted(record.start_ns, record.dur_ns, lane,
                          record.ordinal());
  size_t first = 0;
  for (size_t count = ops.size(); count > 0;) {
    const size_t half = count / 2;
    const size_t op = first + half;
    if (std::tuple(ops.start_ns[op], ops.dur_ns[op], ops.lane[op],
                   ops.ordinal[op]) < wanted) {
      first = op + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return static_cast<uint32_t>(first);
}

struct Stated {
  uint32_t op = 0;
  std::string_view text;
};

}  // namespace

void FillProcessGroups(const std::vector<StoredBatch>& batches,
                       const TracksOfTraces& tracks,
                       std::vector<Trace>* traces) {
  std::vector<std::vector<Stated>> stated(traces->size());
  for (const StoredBatch& batch : batches) {
    for (const GroupRecord& group : batch.groups) {
      const EventRecord& record = batch.ops[group.op];
      const uint32_t trace = tracks.trace[record.track];
      if (trace == kNone) continue;
      const uint32_t op =
          OpOf(record, tracks.lane[record.track], (*traces)[trace].ops);
      stated[trace].push_back({op, batch.lexicon->names[group.text]});
    }
  }
  for (size_t i = 0; i < traces->size(); ++i) {
    Trace& trace = (*traces)[i];
    std::sort(stated[i].begin(), stated[i].end(),
              [](const Stated& a, const Stated& b) { return a.op < b.op; });
    std::map<std::string_view, uint32_t> number;
    for (const Stated& one : stated[i]) {
      const auto [found, added] = number.emplace(
          one.text, static_cast<uint32_t>(trace.process_groups.size()));
      if (added) trace.process_groups.emplace_back(one.text);
      trace.op_groups.push_back({one.op, found->second});
    }
  }
}

}  // namespace inferdiff
