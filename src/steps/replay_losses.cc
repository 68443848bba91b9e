// SPDX-License-Identifier: Apache-2.0
#include "steps/replay_losses.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked.h"

namespace inferdiff {
namespace {

/// Calls of one name in a replay, and how long they take together.
struct NameUse {
  uint32_t calls = 0;
  int64_t sum_ns = 0;
};
using NameUses = std::unordered_map<NameId, NameUse>;

NameUses UsesIn(const Trace& trace, const Replays& in, uint32_t replay) {
  NameUses uses;
  for (uint32_t k = in.op_begin[replay]; k < in.op_begin[replay + 1]; ++k) {
    NameUse& use = uses[trace.ops.name[in.ops[k]]];
    ++use.calls;
    use.sum_ns = SaturatingAdd(use.sum_ns, trace.ops.dur_ns[in.ops[k]]);
  }
  return uses;
}

bool IsPartOf(const NameUses& part, const NameUses& whole) {
  return std::all_of(part.begin(), part.end(), [&](const auto& entry) {
    const auto found = whole.find(entry.first);
    return found != whole.end() && entry.second.calls <= found->second.calls;
  });
}

/// Time that what `part` lacks takes in `whole`.
int64_t TimeMissing(const NameUses& part, const NameUses& whole) {
  int64_t time = 0;
  for (const auto& [name, use] : whole) {
    const auto found = part.find(name);
    const uint32_t here = found == part.end() ? 0 : found->second.calls;
    time = SaturatingAdd(time, use.sum_ns / use.calls * (use.calls - here));
  }
  return time;
}

/// Time within a replay in which none of its ops runs.
int64_t IdleIn(const Trace& trace, const Replays& in, uint32_t replay) {
  int64_t idle = 0, reached = in.list[replay].begin_ns;
  for (uint32_t k = in.op_begin[replay]; k < in.op_begin[replay + 1]; ++k) {
    const uint32_t op = in.ops[k];
    const int64_t gap = SaturatingSub(trace.ops.start_ns[op], reached);
    idle = SaturatingAdd(idle, std::max<int64_t>(gap, 0));
    reached = std::max(reached, trace.ops.end_ns(op));
  }
  return idle;
}

/// Replays of one signature.
struct Graph {
  uint32_t replays = 0, first = 0;
  int64_t shortest_ns = INT64_MAX;  // of their spans
};

using Graphs = std::unordered_map<uint64_t, Graph>;

Graphs CountGraphs(const Replays& in) {
  Graphs graphs;
  for (uint32_t r = 0; r < in.list.size(); ++r) {
    const Replay& replay = in.list[r];
    auto [it, added] = graphs.try_emplace(replay.signature);
    if (added) it->second.first = r;
    ++it->second.replays;
    it->second.shortest_ns = std::min(
        it->second.shortest_ns, SaturatingSub(replay.end_ns, replay.begin_ns));
  }
  return graphs;
}

// The largest common graphs: few enough to compare each rare one with.
std::vector<Graph> CommonGraphs(const Replays& in, const Graphs& graphs) {
  constexpr size_t kMaxCommon = 8;
  std::vector<Graph> common;
  for (const auto& [signature, graph] : graphs) {
    if (graph.replays >= 3) common.push_back(graph);
  }
  std::sort(common.begin(), common.end(), [&](const Graph& a, const Graph& b) {
    const uint32_t x = in.list[a.first].ops, y = in.list[b.first].ops;
    return x != y ? x > y : a.first < b.first;
  });
  if (common.size() > kMaxCommon) common.resize(kMaxCommon);
  return common;
}

/// Where a replay without most of its graph's ops stands, would the whole graph
/// have fitted in? The window of the trace may cut the first and the last one.
bool HasRoomFor(const Replays& in, uint32_t replay, const Graph& whole) {
  if (replay == 0 || replay + 1 == in.list.size()) return false;
  const int64_t room =
      SaturatingSub(in.list[replay + 1].begin_ns, in.list[replay - 1].end_ns);
  return room / 3 >= whole.shortest_ns / 4;
}

// A profiler that runs out of buffers loses records, and the window's border
// cuts a replay in two. Such a replay has a signature of its own; it is known
// by being rare and a part of a common one. It takes the common signature and
// says how many ops it lacks.
class LossFinder {
 public:
  LossFinder(const Trace& trace, Replays* replays)
      : trace_(trace),
        replays_(*replays),
        graphs_(CountGraphs(*replays)),
        common_(CommonGraphs(*replays, graphs_)) {
    for (const Graph& graph : common_) {
      uses_.push_back(UsesIn(trace, *replays, graph.first));
      idle_ns_.push_back(IdleIn(trace, *replays, graph.first));
    }
  }

  void Repair(uint32_t r) {
    Replay& replay = replays_.list[r];
    const uint32_t alike = graphs_.at(replay.signature).replays;
    if (alike > 2) return;
    const NameUses mine = UsesIn(trace_, replays_, r);
    for (size_t g = 0; g < common_.size(); ++g) {
      const Replay& whole = replays_.list[common_[g].first];
      if (replay.ops >= whole.ops || alike * 4 > common_[g].replays ||
          !IsPartOf(mine, uses_[g]) || !IsDamaged(r, alike, mine, g))
        continue;
      replay.missing_ops = whole.ops - replay.ops;
      replay.signature = whole.signature;
      return;
    }
  }

 private:
  // Losing most of a graph looks like another, smaller graph: one has holes
  // where the lost ops ran, the other has none. Where the lost ones were the
  // last or the first of all, the hole is beside it; but so is that of a small
  // graph which the host is late to follow up, and which comes more than once.
  bool IsDamaged(uint32_t r, uint32_t alike, const NameUses& mine,
                 size_t g) const {
    const Replay& whole = replays_.list[common_[g].first];
    if (replays_.list[r].ops * 2 >= whole.ops) return true;
    const int64_t lost = TimeMissing(mine, uses_[g]);
    const int64_t holes =
        SaturatingSub(IdleIn(trace_, replays_, r), idle_ns_[g]);
    if (lost > 0 && holes >= lost / 4) return true;
    return alike == 1 && HasRoomFor(replays_, r, common_[g]);
  }

  const Trace& trace_;
  Replays& replays_;
  const Graphs graphs_;
  const std::vector<Graph> common_;
  std::vector<NameUses> uses_;    // of the common ones
  std::vector<int64_t> idle_ns_;  // within them
};

/// The most that any of some replays has of each name. Empty where one of the
/// names is in half of them or fewer: those are unlike graphs.
NameUses MostUses(const std::vector<NameUses>& all) {
  NameUses most;
  std::unordered_map<NameId, size_t> replays;
  for (const NameUses& uses : all) {
    for (const auto& [name, use] : uses) {
      most[name].calls = std::max(most[name].calls, use.calls);
      ++replays[name];
    }
  }
  for (const auto& [name, count] : replays)
    if (count * 2 <= all.size()) return {};
  return most;
}

// Where most replays lack something, hardly two are alike, and no common graph
// tells what a whole one has. Those of about one size and of equal names, four
// unlike ones and more, are replays of one graph: it has the most that any of
// them has of each kernel.
void RepairWhereFewAreWhole(const Trace& trace, Replays& out) {
  constexpr size_t kLeast = 4;
  uint32_t largest = 0;
  for (const Replay& replay : out.list) largest = std::max(largest, replay.ops);
  std::vector<uint32_t> family;
  std::unordered_map<uint64_t, uint32_t> alike;
  for (uint32_t r = 0; r < out.list.size(); ++r) {
    if (out.list[r].ops < largest - largest / 4) continue;
    if (out.list[r].missing_ops > 0) return;  // a common graph there is
    family.push_back(r);
    ++alike[out.list[r].signature];
  }
  if (alike.size() < kLeast || alike.size() * 2 < family.size()) return;
  std::vector<NameUses> uses;
  for (const uint32_t r : family) uses.push_back(UsesIn(trace, out, r));
  const NameUses whole = MostUses(uses);
  uint64_t signature = 0;
  uint32_t ops = 0;
  for (const auto& [name, use] : whole) {
    signature += SignatureOf(name) * use.calls;
    ops += use.calls;
  }
  if (ops == 0 || ops - ops / 4 > largest) return;
  for (const uint32_t r : family) {
    out.list[r].missing_ops = ops - out.list[r].ops;
    out.list[r].signature = signature;
  }
}

}  // namespace

// splitmix64's finaliser: spreads dense ids over 64 bits.
uint64_t SignatureOf(NameId name) {
  uint64_t x = name + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void FindReplayLosses(const Trace& trace, Replays* replays) {
  LossFinder losses(trace, replays);
  for (uint32_t r = 0; r < replays->list.size(); ++r) losses.Repair(r);
  RepairWhereFewAreWhole(trace, *replays);
}

}  // namespace inferdiff
