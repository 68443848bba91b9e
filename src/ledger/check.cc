// SPDX-License-Identifier: Apache-2.0
// Nothing here can overflow: TotalsOfDevice has refused durations that add up
// past 2^63 ns, and a Stat adds with care.
#include "ledger/check.h"

#include "base/error.h"

namespace inferdiff {
namespace {

void Require(bool holds, const char* what) {
  if (!holds) throw ContractError(what);
}

void CheckRow(const Amounts& row) {
  Require(row.attributed_ns >= 0 && row.hidden_same_lane_ns >= 0 &&
              row.hidden_cross_lane_ns >= 0,
          "a row has less than no time");
  Require(row.exclusive_ns >= 0 && row.exclusive_ns <= row.attributed_ns,
          "a row has more time alone than altogether");
  Require(row.sum_ns == row.attributed_ns + row.hidden_ns(),
          "a row's sum is not its attributed and hidden time");
}

/// What rows of one kind add up to.
template <typename Rows>
Amounts Total(const Rows& rows) {
  Amounts total;
  for (const auto& row : rows) {
    CheckRow(row.amounts);
    total.Add(row.amounts);
  }
  return total;
}

}  // namespace

void CheckSums(const LedgerResult& ledger) {
  Amounts categories;
  for (const Amounts& category : ledger.categories) {
    CheckRow(category);
    categories.Add(category);
  }
  CheckRow(ledger.rank_wait);
  CheckCycles(ledger.cycles);
  Require(Total(ledger.kernels) == categories &&
              Total(ledger.families) == categories,
          "kernels or families do not add up to the categories");
  Amounts all = categories;
  all.Add(ledger.rank_wait);
  const PerStep& total = ledger.per_step;
  Require(all.attributed_ns == total.busy.total,
          "the categories and rank wait do not add up to the busy time");
  Require(all.sum_ns == total.sum.total &&
              all.hidden_same_lane_ns == total.hidden_same_lane.total &&
              all.hidden_cross_lane_ns == total.hidden_cross_lane.total,
          "the categories and rank wait do not add up to the durations");
  Require(ledger.rank_wait.sum_ns == total.rank_wait.total,
          "the steps' rank wait does not add up");
  Require(total.wall.n != ledger.used_steps ||
              all.attributed_ns + total.foreign.total + total.idle.total ==
                  total.wall.total,
          "busy, foreign and idle time are not the wall time");
}

}  // namespace inferdiff
