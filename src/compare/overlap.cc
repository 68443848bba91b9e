// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "compare/causes.h"
#include "compare/dive.h"

namespace inferdiff {
namespace {

/// Without what a profiler makes longest: idle time outside replays.
Rational DeviceTime(const SideTotals& side) {
  return side.PerStep(side.headline_ns - side.idle_outside_ns);
}

/// Of the kernel families that both layouts run equally often. A table tells
/// no kernels.
void AddDilation(const LedgerResult& ledger, const SideTotals& totals,
                 const LedgerResult& serial, const SideTotals& serial_totals,
                 MeasuredOverlap* measured) {
  if (ledger.published || serial.published) return;
  const std::vector<FamilyAmounts> families =
      FamiliesOf(serial, serial_totals, nullptr);
  std::map<std::pair<std::string_view, Category>, const SideAmounts*> alone;
  for (const FamilyAmounts& row : families)
    alone[{row.family, row.category}] = &row.amounts;
  int64_t sum = 0, sum_alone = 0;
  bool found = false;
  for (const FamilyAmounts& row : FamiliesOf(ledger, totals, nullptr)) {
    const SideAmounts& amounts = row.amounts;
    const auto other = alone.find({row.family, row.category});
    if (other == alone.end() || !(totals.PerStep(amounts.count) ==
                                  serial_totals.PerStep(other->second->count)))
      continue;
    found = true;
    sum = CheckedAdd(sum, amounts.sum_ns - amounts.hidden_same_lane_ns);
    sum_alone = CheckedAdd(
        sum_alone, other->second->sum_ns - other->second->hidden_same_lane_ns);
  }
  if (!found) return;
  measured->alone = serial_totals.PerStep(sum_alone);
  measured->dilation = totals.PerStep(sum) - *measured->alone;
}

}  // namespace

Overlap FindOverlap(const LedgerResult& ledger, const SideTotals& totals,
                    const LedgerResult* serial, const SideTotals& serial_totals,
                    std::optional<int64_t> untraced_ns,
                    std::optional<int64_t> untraced_serial_ns) {
  Overlap overlap;
  if (totals.sums_known) {
    overlap.bound = totals.PerStep(totals.all.hidden_cross_lane_ns -
                                   totals.rank_wait.hidden_cross_lane_ns);
  }
  if (serial == nullptr) return overlap;
  MeasuredOverlap& measured = overlap.measured.emplace();
  measured.untraced = untraced_ns && untraced_serial_ns;
  measured.worth =
      measured.untraced
          ? Rational{CheckedSub(*untraced_serial_ns, *untraced_ns), 1}
          : DeviceTime(serial_totals) - DeviceTime(totals);
  measured.more_idle = serial_totals.PerStep(serial_totals.idle_outside_ns) -
                       totals.PerStep(totals.idle_outside_ns);
  if (totals.counts_known && serial_totals.counts_known) {
    measured.more_ops = serial_totals.PerStep(serial_totals.all.count) -
                        totals.PerStep(totals.all.count);
  }
  AddDilation(ledger, totals, *serial, serial_totals, &measured);
  return overlap;
}

}  // namespace inferdiff
