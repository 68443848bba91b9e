// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked.h"
#include "base/number.h"
#include "compare/causes.h"

namespace inferdiff {
namespace {

/// From the start of each replayed op to that of the next one on its lane, in
/// ns, ascending: what an operation costs there, its gap included.
std::vector<int64_t> Pitches(const LedgerResult& ledger) {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> last_start;
  std::vector<int64_t> pitches;
  for (const SequenceOp& op : ledger.sequence) {
    if (op.replay == kNone) continue;
    const auto [lane, is_first] =
        last_start.emplace(std::pair{op.replay, op.lane}, op.start_ns);
    if (is_first) continue;
    pitches.push_back(SaturatingSub(op.start_ns, lane->second));
    lane->second = op.start_ns;
  }
  std::sort(pitches.begin(), pitches.end());
  return pitches;
}

/// A tenth of a replay's operations follow sooner than the floor allows.
std::string ShortestKernelDoubt(std::string_view side,
                                const LedgerResult& ledger, Rational floor) {
  constexpr size_t kEnough = 20;
  const std::vector<int64_t> pitches = Pitches(ledger);
  if (pitches.size() < kEnough) return {};
  const Rational tenth{pitches[pitches.size() / 10], 1};
  if (!(tenth < floor)) return {};
  return fmt::format(
      "a tenth of {}'s replayed operations start within {} of the one before, "
      "less than its floor of {}",
      side, Duration(tenth), Duration(floor));
}

}  // namespace

FloorSplit SplitByFloor(Rational work, Rational ops_a, Rational ops_b,
                        Rational floor_a, Rational floor_b) {
  FloorSplit split;
  split.count = (ops_b - ops_a) * floor_a;
  split.price = ops_b * (floor_b - floor_a);
  split.rest = work - split.count - split.price;
  return split;
}

std::string FloorDoubt(std::string_view side, const LedgerResult& ledger,
                       const SideTotals& totals,
                       const std::optional<Rational>& floor) {
  if (!floor) return fmt::format("the floor of {} is not known", side);
  if (!totals.counts_known)
    return fmt::format("how many operations {} runs is not known", side);
  for (const CaptureCheck& check : ledger.capture_checks) {
    if (check.kind == CheckKind::kInstrumentationFloor)
      return fmt::format("{}'s durations are those of the instrumentation",
                         side);
  }
  const SideAmounts& all = totals.all;
  const Rational least = totals.PerStep(all.count) * *floor;
  const Rational work = totals.PerStep(all.sum_ns - all.hidden_same_lane_ns +
                                       totals.idle_inside_ns);
  if (work < least) {
    return fmt::format(
        "{}'s {} operations would take {} at its floor alone, and do all "
        "their work in {}: the floor is too high for this trace",
        side, CountText(totals.PerStep(all.count)), Duration(least),
        Duration(work));
  }
  return ShortestKernelDoubt(side, ledger, *floor);
}

}  // namespace inferdiff
