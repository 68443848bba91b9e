// SPDX-License-Identifier: Apache-2.0
// What is uneven among the ranks of a set, and which rank makes others wait.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rational.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// A rank that the others wait for, all times a step.
struct Straggler {
  uint32_t rank = 0;           // index in LedgerResult::ranks
  uint64_t last_arrivals = 0;  // of LedgerResult::matched_collectives
  Rational caused_wait;        // what the first to arrive waits for it
  /// Of that, time in which it was idle for longer than the others were: its
  /// host was late. The rest it worked.
  Rational caused_idle;
  /// What it does more of than the other ranks' mean: the largest excess.
  std::optional<Category> category;
  Rational excess;  // 0 without a category
};

/// A category that ranks spend unlike time on.
struct Imbalance {
  Category category = Category::kUnclassified;
  uint32_t least = 0, most = 0;  // indices in LedgerResult::ranks
  Rational least_ns, most_ns;    // sums of durations a step
};

struct RankFindings {
  /// The rank that causes half of all waiting or more.
  std::optional<Straggler> straggler;
  /// No rank does, and yet ranks wait for each other: in turns.
  bool in_turns = false;
  /// At least a tenth, and a fiftieth of the wall, apart; largest first.
  std::vector<Imbalance> imbalances;
  // Means over ranks, by wall: the slowest and the fastest rank.
  std::optional<uint32_t> slowest, fastest;
};

/// Nothing is found where the ledger is of one rank. Waiting under a hundredth
/// of the wall is not worth a rank's name.
RankFindings FindAmongRanks(const LedgerResult& ledger);

}  // namespace inferdiff
