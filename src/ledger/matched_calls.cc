// SPDX-License-Identifier: Apache-2.0
#include "ledger/matched_calls.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/checked.h"

namespace inferdiff {

MatchedCalls::MatchedCalls(const RankMatch& match)
    : match_(match), idle_before_(match.parts.size(), kUnused) {
  ChooseLongWaits();
}

void MatchedCalls::ChooseLongWaits() {
  constexpr size_t kMost = 20;
  // By wait, longest first, then rank and call; and the last rank.
  std::set<std::tuple<int64_t, uint32_t, uint32_t, uint32_t>> longest;
  for (const MatchedCollective& one : match_.collectives) {
    for (uint32_t i = 0; i < one.parts; ++i) {
      const CollectivePart& part = match_.parts[one.first_part + i];
      if (part.wait_ns == 0) continue;
      longest.emplace(-part.wait_ns, part.rank, part.call, one.last_rank);
      if (longest.size() > kMost) longest.erase(std::prev(longest.end()));
    }
  }
  for (const auto& [wait_ns, rank, call, last_rank] : longest) {
    LongWait wait;
    wait.rank = rank;
    wait.last_rank = last_rank;
    wait.wait_ns = -wait_ns;
    long_waits_.push_back(std::move(wait));
    long_parts_.push_back({rank, call, -wait_ns});
  }
}

void MatchedCalls::Note(uint32_t rank, const LedgerResult& ledger,
                        uint32_t first_step) {
  const Collectives& collectives = ledger.collectives;
  for (const uint32_t part : match_.parts_of_rank[rank]) {
    const CollectiveCall& call = collectives.calls[match_.parts[part].call];
    if (call.kernel != kNone) idle_before_[part] = call.idle_before_ns;
  }
  for (size_t i = 0; i < long_waits_.size(); ++i) {
    if (long_parts_[i].rank != rank) continue;
    const CollectiveCall& call = collectives.calls[long_parts_[i].call];
    LongWait& wait = long_waits_[i];
    if (call.step != kNone && first_step != kNone)
      wait.step = first_step + call.step;
    wait.ordinal = call.ordinal;
    wait.name = collectives.names[call.name];
    wait.duration_ns = call.end_ns - call.start_ns;
  }
}

void MatchedCalls::BlameLastRanks(std::vector<RankRow>* rows) const {
  for (const MatchedCollective& one : match_.collectives) {
    int64_t wait = 0;
    int64_t least_idle = INT64_MAX;
    int64_t own_idle = 0;
    for (uint32_t i = one.first_part; i < one.first_part + one.parts; ++i) {
      wait = std::max(wait, match_.parts[i].wait_ns);
      least_idle = std::min(least_idle, idle_before_[i]);
      if (match_.parts[i].rank == one.last_rank) own_idle = idle_before_[i];
    }
    if (least_idle == kUnused) continue;
    RankRow& last = (*rows)[one.last_rank];
    ++last.last_arrivals;
    last.caused_wait_ns = CheckedAdd(last.caused_wait_ns, wait);
    last.caused_idle_ns =
        CheckedAdd(last.caused_idle_ns, std::min(own_idle - least_idle, wait));
  }
}

}  // namespace inferdiff
