// SPDX-License-Identifier: Apache-2.0
#include "compare/side.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/checked.h"
#include "base/error.h"

namespace inferdiff {
namespace {

struct Interval {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end > begin ? end - begin : 0; }
};

Interval Intersect(Interval x, Interval y) {
  return {std::max(x.begin, y.begin), std::min(x.end, y.end)};
}

/// From the earlier begin to the later end.
Interval Hull(Interval x, Interval y) {
  return {std::min(x.begin, y.begin), std::max(x.end, y.end)};
}

/// Sorted and disjoint.
std::vector<Interval> Union(std::vector<Interval> parts) {
  std::sort(parts.begin(), parts.end(),
            [](Interval x, Interval y) { return x.begin < y.begin; });
  std::vector<Interval> merged;
  for (const Interval part : parts) {
    if (part.length() == 0) continue;
    if (!merged.empty() && part.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, part.end);
    else
      merged.push_back(part);
  }
  return merged;
}

int64_t LengthOf(const std::vector<Interval>& disjoint) {
  int64_t length = 0;
  for (const Interval part : disjoint) length += part.length();
  return length;
}

/// What the disjoint sorted `x` and `y` have in common.
int64_t Overlap(const std::vector<Interval>& x,
                const std::vector<Interval>& y) {
  int64_t length = 0;
  for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    length += Intersect(x[i], y[j]).length();
    x[i].end < y[j].end ? ++i : ++j;
  }
  return length;
}

bool HasWalls(const LedgerResult& ledger) {
  if (ledger.published) return true;
  return ledger.used_steps > 0 && ledger.per_step.wall.n == ledger.used_steps &&
         ledger.per_step.idle.n == ledger.used_steps &&
         ledger.per_step.idle_inside.n == ledger.used_steps;
}

/// Where the ledger clipped the representative step: from its begin to its
/// wall, if it has one.
Interval StepWindow(const LedgerResult& ledger) {
  Interval window{0, std::numeric_limits<int64_t>::max()};
  for (const StepAmounts& step : ledger.step_amounts) {
    if (step.step == ledger.representative_step && step.wall)
      window.end = *step.wall;
  }
  return window;
}

/// Waiting for other ranks included.
int64_t AttributedTo(const SequenceOp& op) {
  return op.attributed_ns + op.wait_attributed_ns;
}

/// Attributed time of the representative step by replay; eager ops by kNone.
std::map<uint32_t, int64_t> AttributedByReplay(const LedgerResult& ledger) {
  std::map<uint32_t, int64_t> by_replay;
  for (const SequenceOp& op : ledger.sequence) {
    int64_t& total = by_replay[op.replay];
    total = CheckedAdd(total, AttributedTo(op));
  }
  return by_replay;
}

/// The replay that does most of the step's work; kNone without replays.
uint32_t MainReplay(const std::map<uint32_t, int64_t>& by_replay) {
  uint32_t main = kNone;
  for (const auto& [replay, total] : by_replay) {
    if (replay == kNone) continue;
    if (main == kNone || total > by_replay.at(main)) main = replay;
  }
  return main;
}

bool OneReplayIsTheStep(const LedgerResult& ledger) {
  const auto by_replay = AttributedByReplay(ledger);
  const uint32_t main = MainReplay(by_replay);
  if (main == kNone) return false;
  int64_t rest = 0;
  for (const auto& [replay, total] : by_replay) {
    if (replay != main) rest = CheckedAdd(rest, total);
  }
  return by_replay.at(main) > rest;
}

void AddOp(const SequenceOp& op, SideAmounts* amounts) {
  ++amounts->count;
  amounts->attributed_ns = CheckedAdd(amounts->attributed_ns, op.attributed_ns);
  amounts->hidden_same_lane_ns =
      CheckedAdd(amounts->hidden_same_lane_ns, op.hidden_same_lane_ns);
  amounts->hidden_cross_lane_ns =
      CheckedAdd(amounts->hidden_cross_lane_ns, op.hidden_cross_lane_ns);
  amounts->sum_ns = CheckedAdd(
      amounts->attributed_ns,
      CheckedAdd(amounts->hidden_same_lane_ns, amounts->hidden_cross_lane_ns));
}

void AddWait(const SequenceOp& op, SideAmounts* amounts) {
  SideAmounts wait;
  wait.attributed_ns = op.wait_attributed_ns;
  wait.hidden_same_lane_ns = op.wait_same_lane_ns;
  wait.hidden_cross_lane_ns = op.wait_cross_lane_ns;
  wait.sum_ns =
      wait.attributed_ns + wait.hidden_same_lane_ns + wait.hidden_cross_lane_ns;
  wait.count = wait.sum_ns > 0 ? 1 : 0;
  *amounts += wait;
}

SideAmounts Convert(const Amounts& amounts) {
  return {amounts.count, amounts.sum_ns, amounts.attributed_ns,
          amounts.hidden_same_lane_ns, amounts.hidden_cross_lane_ns};
}

/// Nothing where the ledger does not tell.
std::optional<IdleCauses> IdleCausesOf(const PerStep& per_step) {
  if (per_step.idle_tail.n != per_step.idle.n ||
      per_step.idle_host_late.n != per_step.idle.n)
    return std::nullopt;
  const auto part = [](const Stat& all, const Stat& late, const Stat& queued) {
    return LaunchCauses{late.total, queued.total,
                        all.total - late.total - queued.total};
  };
  return IdleCauses{
      part(per_step.idle_between, per_step.between_host_late,
           per_step.between_queued),
      part(per_step.idle_tail, per_step.tail_host_late, per_step.tail_queued),
      {per_step.rest_host_late.total, per_step.rest_queued.total,
       per_step.rest_unknown.total}};
}

SideTotals OnWall(const LedgerResult& ledger) {
  SideTotals side;
  const PerStep& per_step = ledger.per_step;
  side.steps = ledger.used_steps;
  for (size_t i = 0; i < kCategoryCount; ++i)
    side.categories[i] = Convert(ledger.categories[i]);
  for (const KernelRow& kernel : ledger.kernels)
    side.kernels.push_back(Convert(kernel.amounts));
  if (ledger.published) {
    side.headline_ns = ledger.published->wall_ns;
    side.idle_outside_ns = ledger.published->idle_ns;
    side.sums_known = ledger.published->sums_known;
    side.counts_known = ledger.published->counts_known;
    return side;
  }
  side.headline_ns = per_step.wall.total;
  side.rank_wait = Convert(ledger.rank_wait);
  side.foreign_ns = per_step.foreign.total;
  side.idle_inside_ns = per_step.idle_inside.total;
  side.idle_outside_ns = per_step.idle.total - per_step.idle_inside.total;
  side.idle_causes = IdleCausesOf(per_step);
  return side;
}

/// Where the representative step's ops lie, clipped as the ledger did.
struct Layout {
  Interval span;  // of the ops that count
  std::vector<Interval> ops, replays;
};

/// All ops count, or those of one replay.
bool Counts(const SequenceOp& op, uint32_t only_replay) {
  return only_replay == kNone || op.replay == only_replay;
}

Layout LayOut(const LedgerResult& ledger, uint32_t only_replay) {
  Layout layout;
  layout.span = {std::numeric_limits<int64_t>::max(), 0};
  // Without a replay to begin it, the span begins with the forward lane.
  if (only_replay == kNone) layout.span.begin = 0;
  const Interval window = StepWindow(ledger);
  std::map<uint32_t, Interval> replays;
  for (const SequenceOp& op : ledger.sequence) {
    const Interval clipped =
        Intersect({op.start_ns, CheckedAdd(op.start_ns, op.dur_ns)}, window);
    layout.ops.push_back(clipped);
    if (op.replay != kNone) {
      Interval& replay = replays.emplace(op.replay, clipped).first->second;
      replay = Hull(replay, clipped);
    }
    if (Counts(op, only_replay)) layout.span = Hull(layout.span, clipped);
  }
  for (const auto& [id, replay] : replays)
    layout.replays.push_back(Intersect(replay, layout.span));
  for (Interval& op : layout.ops) op = Intersect(op, layout.span);
  return layout;
}

SideTotals OnSpan(const LedgerResult& ledger, uint32_t only_replay) {
  SideTotals side;
  side.kernels.resize(ledger.kernels.size());
  int64_t attributed = 0;
  for (const SequenceOp& op : ledger.sequence) {
    if (!Counts(op, only_replay)) {
      ++side.left_out_ops;
      side.left_out_ns = CheckedAdd(side.left_out_ns, AttributedTo(op));
      continue;
    }
    const KernelRow& kernel = ledger.kernels.at(op.kernel);
    AddOp(op, &side.categories[static_cast<size_t>(kernel.category)]);
    AddOp(op, &side.kernels[op.kernel]);
    AddWait(op, &side.rank_wait);
    attributed = CheckedAdd(attributed, AttributedTo(op));
  }
  const Layout layout = LayOut(ledger, only_replay);
  const std::vector<Interval> busy = Union(layout.ops);
  const std::vector<Interval> replays = Union(layout.replays);
  side.headline_ns = layout.span.length();
  side.foreign_ns = LengthOf(busy) - attributed;
  side.idle_inside_ns = LengthOf(replays) - Overlap(replays, busy);
  side.idle_outside_ns =
      side.headline_ns - LengthOf(busy) - side.idle_inside_ns;
  // What runs during the replay is foreign to it, not left out of the span.
  side.left_out_ns -= side.foreign_ns;
  return side;
}

void CheckSide(const SideTotals& side) {
  int64_t parts = CheckedAdd(side.all.attributed_ns, side.foreign_ns);
  parts = CheckedAdd(parts, side.idle_inside_ns);
  parts = CheckedAdd(parts, side.idle_outside_ns);
  if (parts != side.headline_ns) {
    throw ContractError(
        "attributed + foreign + idle = " + std::to_string(parts) +
        " ns, but the step takes " + std::to_string(side.headline_ns) + " ns");
  }
  std::vector<SideAmounts> rows(side.categories.begin(), side.categories.end());
  rows.push_back(side.rank_wait);
  for (const SideAmounts& row : rows) {
    if (row.attributed_ns < 0 || row.attributed_ns > side.headline_ns)
      throw ContractError("a category takes more time than the step");
    if (row.sum_ns !=
        row.attributed_ns + row.hidden_same_lane_ns + row.hidden_cross_lane_ns)
      throw ContractError("a category's sum is not attributed + hidden");
  }
  if (const auto& idle = side.idle_causes;
      idle && idle->between.total() + idle->tail.total() + idle->rest.total() !=
                  side.idle_outside_ns)
    throw ContractError("the causes of idle time do not add up to it");
  if (side.foreign_ns < 0 || side.idle_inside_ns < 0 ||
      side.idle_outside_ns < 0)
    throw ContractError("foreign or idle time of a step is negative");
}

}  // namespace

SideAmounts& SideAmounts::operator+=(const SideAmounts& other) {
  count += other.count;
  sum_ns = CheckedAdd(sum_ns, other.sum_ns);
  attributed_ns = CheckedAdd(attributed_ns, other.attributed_ns);
  hidden_same_lane_ns =
      CheckedAdd(hidden_same_lane_ns, other.hidden_same_lane_ns);
  hidden_cross_lane_ns =
      CheckedAdd(hidden_cross_lane_ns, other.hidden_cross_lane_ns);
  return *this;
}

Basis ChooseBasis(const std::vector<const LedgerResult*>& ledgers) {
  const auto all = [&](bool (*has)(const LedgerResult&)) {
    return std::all_of(ledgers.begin(), ledgers.end(),
                       [&](const LedgerResult* one) { return has(*one); });
  };
  if (all(HasWalls)) return Basis::kWall;
  return all(OneReplayIsTheStep) ? Basis::kReplaySpan : Basis::kSpan;
}

SideTotals TotalsOn(Basis basis, const LedgerResult& ledger) {
  SideTotals side;
  if (basis == Basis::kWall) {
    side = OnWall(ledger);
  } else {
    const bool replay = basis == Basis::kReplaySpan;
    side =
        OnSpan(ledger, replay ? MainReplay(AttributedByReplay(ledger)) : kNone);
  }
  side.wait_basis = ledger.wait_basis;
  side.all = side.rank_wait;
  side.all.count = 0;  // its calls are their categories'
  for (const SideAmounts& row : side.categories) side.all += row;
  CheckSide(side);
  return side;
}

Rational ReplayShare(const LedgerResult& ledger) {
  int64_t inside = 0, all = 0;
  for (const auto& [replay, total] : AttributedByReplay(ledger)) {
    if (replay != kNone) inside = CheckedAdd(inside, total);
    all = CheckedAdd(all, total);
  }
  return {inside, all > 0 ? all : 1};
}

}  // namespace inferdiff
