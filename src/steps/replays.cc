// SPDX-License-Identifier: Apache-2.0
#include "steps/replays.h"

#include <algorithm>

#include "base/checked.h"
#include "steps/replay_losses.h"

namespace inferdiff {
namespace {

// An eager call makes one GPU record, a copy or a collective at times a few.
constexpr size_t kMinOpsWithoutLaunch = 8;

// Numbers replays in order of their first op. Linked ops go by their launch;
// returns the others that have a correlation.
std::vector<uint32_t> CollectLaunched(const Trace& trace, Replays& out) {
  std::vector<uint32_t> of_call(trace.calls.size(), kNone), unlinked;
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    const uint32_t launch = trace.ops.launch[i];
    if (launch == kNone) {
      if (trace.ops.correlation[i] != 0) unlinked.push_back(i);
      continue;
    }
    if (trace.calls.kind[launch] != CallKind::kGraphLaunch) continue;
    if (of_call[launch] == kNone) {
      of_call[launch] = static_cast<uint32_t>(out.list.size());
      Replay& replay = out.list.emplace_back();
      replay.correlation = trace.ops.correlation[i];
      replay.launch = launch;
      replay.begin_ns = trace.ops.start_ns[i];
    }
    out.of_op[i] = of_call[launch];
    ++out.list[of_call[launch]].ops;
  }
  return unlinked;
}

void CollectUnlinked(const Trace& trace, std::vector<uint32_t> unlinked,
                     Replays& out) {
  const auto& correlation = trace.ops.correlation;
  std::stable_sort(
      unlinked.begin(), unlinked.end(),
      [&](uint32_t a, uint32_t b) { return correlation[a] < correlation[b]; });
  for (size_t first = 0; first < unlinked.size();) {
    size_t last = first;
    while (last < unlinked.size() &&
           correlation[unlinked[last]] == correlation[unlinked[first]]) {
      ++last;
    }
    if (last - first >= kMinOpsWithoutLaunch) {
      Replay& replay = out.list.emplace_back();
      replay.correlation = correlation[unlinked[first]];
      replay.begin_ns = trace.ops.start_ns[unlinked[first]];
      replay.ops = static_cast<uint32_t>(last - first);
      for (size_t k = first; k < last; ++k) {
        out.of_op[unlinked[k]] = static_cast<uint32_t>(out.list.size() - 1);
      }
    }
    first = last;
  }
}

// Renumbers by first op: both kinds of replays together in time order.
void SortByTime(Replays& out) {
  std::vector<uint32_t> number(out.list.size(), kNone);
  std::vector<Replay> sorted;
  sorted.reserve(out.list.size());
  for (uint32_t& replay : out.of_op) {
    if (replay == kNone) continue;
    if (number[replay] == kNone) {
      number[replay] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(out.list[replay]);
    }
    replay = number[replay];
  }
  out.list = std::move(sorted);
}

void ListOps(Replays& out) {
  out.op_begin.assign(1, 0);
  for (const Replay& replay : out.list) {
    out.op_begin.push_back(out.op_begin.back() + replay.ops);
  }
  out.ops.resize(out.op_begin.back());
  std::vector<uint32_t> next(out.op_begin.begin(), out.op_begin.end() - 1);
  for (uint32_t i = 0; i < out.of_op.size(); ++i) {
    if (out.of_op[i] != kNone) out.ops[next[out.of_op[i]]++] = i;
  }
}

/// Numbers lanes by first use, over and over without clearing a table.
class LaneNumbers {
 public:
  explicit LaneNumbers(size_t lanes) : stamp_(lanes, 0), number_(lanes, 0) {}
  void Restart() {
    ++now_;
    lanes_.clear();
  }
  uint32_t Of(uint32_t lane) {
    if (stamp_[lane] != now_) {
      stamp_[lane] = now_;
      number_[lane] = static_cast<uint32_t>(lanes_.size());
      lanes_.push_back(lane);
    }
    return number_[lane];
  }
  const std::vector<uint32_t>& lanes() const { return lanes_; }

 private:
  std::vector<uint32_t> stamp_, number_;
  std::vector<uint32_t> lanes_;
  uint32_t now_ = 0;
};

// Fills what depends on a replay's ops. Busy time of a lane is the union of
// its ops, since dependent launches overlap on one lane.
void Measure(const Trace& trace, Replays& out) {
  const GpuOps& ops = trace.ops;
  LaneNumbers numbers(trace.lanes.size());
  std::vector<int64_t> busy, reached;
  for (uint32_t r = 0; r < out.list.size(); ++r) {
    Replay& replay = out.list[r];
    numbers.Restart();
    busy.clear();
    reached.clear();
    replay.end_ns = replay.begin_ns;
    for (uint32_t k = out.op_begin[r]; k < out.op_begin[r + 1]; ++k) {
      const uint32_t op = out.ops[k];
      const uint32_t lane = numbers.Of(ops.lane[op]);
      if (lane == busy.size()) {
        busy.push_back(0);
        reached.push_back(ops.start_ns[op]);
      }
      const int64_t end = ops.end_ns(op);
      const int64_t from = std::max(ops.start_ns[op], reached[lane]);
      if (end > from) {
        busy[lane] = SaturatingAdd(busy[lane], SaturatingSub(end, from));
      }
      reached[lane] = std::max(reached[lane], end);
      replay.end_ns = std::max(replay.end_ns, end);
      replay.signature += SignatureOf(ops.name[op]);
      out.normal_lane[op] = lane;
    }
    const auto main = std::max_element(busy.begin(), busy.end());
    replay.main_lane =
        numbers.lanes()[static_cast<size_t>(main - busy.begin())];
  }
}

void NumberEagerLanes(const Trace& trace, Replays& out) {
  LaneNumbers numbers(trace.lanes.size());
  numbers.Restart();
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    const uint32_t lane = numbers.Of(trace.ops.lane[i]);
    if (out.of_op[i] == kNone) out.normal_lane[i] = lane;
  }
}

}  // namespace

Replays FindReplays(const Trace& trace) {
  Replays out;
  out.of_op.assign(trace.ops.size(), kNone);
  std::vector<uint32_t> unlinked = CollectLaunched(trace, out);
  if (!unlinked.empty()) {
    CollectUnlinked(trace, std::move(unlinked), out);
    SortByTime(out);
  }
  ListOps(out);
  out.normal_lane.assign(trace.ops.size(), 0);
  Measure(trace, out);
  NumberEagerLanes(trace, out);
  FindReplayLosses(trace, &out);
  return out;
}

}  // namespace inferdiff
