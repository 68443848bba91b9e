// SPDX-License-Identifier: Apache-2.0
#include "compare/timeline.h"

#include <algorithm>
#include <tuple>

#include "base/checked.h"

namespace inferdiff {
namespace {

int64_t EndOf(const TimelineOp& op) {
  return CheckedAdd(op.start_ns, op.dur_ns);
}

void Extend(const TimelineOp& op, TimelineSpan* span) {
  const bool first = span->ops++ == 0;
  span->begin_ns = first ? op.start_ns : std::min(span->begin_ns, op.start_ns);
  span->end_ns = first ? EndOf(op) : std::max(span->end_ns, EndOf(op));
}

TimelineOp OpOf(const SequenceOp& from) {
  TimelineOp op;
  op.ordinal = from.ordinal;
  op.start_ns = from.start_ns;
  op.dur_ns = from.dur_ns;
  op.wait_ns = from.wait_attributed_ns + from.wait_same_lane_ns +
               from.wait_cross_lane_ns;
  op.lane = from.lane;
  op.kernel = from.kernel;
  op.kind = from.kind;
  op.replay = from.replay;
  return op;
}

void FillLanes(SideTimeline* side) {
  std::sort(side->ops.begin(), side->ops.end(),
            [](const TimelineOp& x, const TimelineOp& y) {
              return std::tuple(x.lane, x.start_ns, EndOf(x), x.ordinal) <
                     std::tuple(y.lane, y.start_ns, EndOf(y), y.ordinal);
            });
  for (uint32_t i = 0; i < side->ops.size(); ++i) {
    const uint32_t lane = side->ops[i].lane;
    if (side->lanes.empty() || side->lanes.back().lane != lane)
      side->lanes.push_back({lane, i, i});
    side->lanes.back().end = i + 1;
  }
}

void FillSpans(size_t layers, SideTimeline* side) {
  side->layers.resize(layers);
  for (const TimelineOp& op : side->ops) {
    if (op.layer != kNone) Extend(op, &side->layers[op.layer]);
    if (op.replay == kNone) continue;
    if (op.replay >= side->replays.size()) side->replays.resize(op.replay + 1);
    Extend(op, &side->replays[op.replay]);
  }
}

std::string AbsenceIn(const LedgerResult& ledger) {
  if (!ledger.sequence.empty()) return "";
  if (ledger.published) return "A published table has no operations to draw.";
  if (ledger.used_steps == 0) return "No step is left to draw.";
  return "This ledger does not hold the operations of a step: a trace, or a "
         "ledger file, does.";
}

/// `groups` by index in the sequence; empty: no other side.
SideTimeline Build(const LedgerResult& ledger,
                   const std::vector<uint32_t>& groups) {
  SideTimeline side;
  side.absent = AbsenceIn(ledger);
  if (!side.absent.empty()) return side;
  side.step = ledger.representative_step;
  if (!ledger.ranks.empty() && side.step < ledger.steps.steps.size())
    side.rank = ledger.ranks[ledger.steps.steps[side.step].rank].label;
  for (const StepAmounts& step : ledger.step_amounts)
    if (step.step == side.step) side.wall_ns = step.wall;
  for (const SequenceOp& op : ledger.sequence) side.ops.push_back(OpOf(op));
  for (const PlacedOp& placed : ledger.layers.ops) {
    TimelineOp& op = side.ops[placed.position];
    op.role = placed.role.role;
    op.layer = placed.layer;
  }
  for (size_t i = 0; i < groups.size(); ++i) side.ops[i].group = groups[i];
  FillLanes(&side);
  FillSpans(ledger.layers.layers.layers.size(), &side);
  return side;
}

/// Which group each op of a side's sequence is in. `members` are its indices
/// in the alignment; loose ops, which no step launched, are not drawn.
std::vector<uint32_t> GroupsOf(const LedgerResult& ledger,
                               const std::vector<AlignedGroup>& groups,
                               const std::vector<uint32_t>& members,
                               uint32_t AlignedGroup::*begin,
                               uint32_t AlignedGroup::*end) {
  std::vector<uint32_t> of(ledger.sequence.size(), kNone);
  const std::vector<PlacedOp>& ops = ledger.layers.ops;
  for (uint32_t group = 0; group < groups.size(); ++group) {
    for (uint32_t i = groups[group].*begin; i < groups[group].*end; ++i)
      if (members[i] < ops.size()) of[ops[members[i]].position] = group;
  }
  return of;
}

}  // namespace

SideTimeline TimelineOf(const LedgerResult& ledger) {
  return Build(ledger, {});
}

Timeline TimelineOf(const CompareResult& result) {
  const Alignment& alignment = result.alignment;
  return {
      Build(result.a, GroupsOf(result.a, alignment.groups, alignment.a_ops,
                               &AlignedGroup::a_begin, &AlignedGroup::a_end)),
      Build(result.b, GroupsOf(result.b, alignment.groups, alignment.b_ops,
                               &AlignedGroup::b_begin, &AlignedGroup::b_end))};
}

}  // namespace inferdiff
