// SPDX-License-Identifier: Apache-2.0
// Who arrived last in the collectives of a set, and the longest waits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/rank_match.h"

namespace inferdiff {

/// What is known of the calls that were matched, gathered rank by rank: no two
/// ranks' calls are in memory at once.
class MatchedCalls {
 public:
  explicit MatchedCalls(const RankMatch& match);

  /// The steps of `rank` begin at `first_step` in the joined list, or kNone.
  void Note(uint32_t rank, const LedgerResult& ledger, uint32_t first_step);

  /// Who arrived last, and what it made others wait, idle or at work: in steps
  /// that are used, since the first step of a trace waits for ranks to enter.
  void BlameLastRanks(std::vector<RankRow>* rows) const;
  std::vector<LongWait> long_waits() && { return std::move(long_waits_); }

 private:
  static constexpr int64_t kUnused = -1;

  void ChooseLongWaits();

  const RankMatch& match_;
  std::vector<int64_t> idle_before_;  // by part; kUnused: of no used step
  std::vector<LongWait> long_waits_;
  std::vector<CollectivePart> long_parts_;  // of long_waits_
};

}  // namespace inferdiff
