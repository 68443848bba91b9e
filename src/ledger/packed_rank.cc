// SPDX-License-Identifier: Apache-2.0
#include "ledger/packed_rank.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/archive.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/zstd_frame.h"
#include "ledger/archive_fields.h"
#include "ledger/check.h"

namespace inferdiff {
namespace {

void Expect(bool holds, const char* what) {
  if (!holds) FailDamaged(what);
}

template <typename T>
T Unfold(const std::string& frame) {
  const std::optional<std::string> bytes = UnfoldZstdFrame(frame);
  Expect(bytes.has_value(), "a part of it cannot be unfolded");
  return FromArchive<T>(*bytes);
}

bool IsIndex(uint32_t index, size_t size) { return index < size; }
bool IsIndexOrNone(uint32_t index, size_t size) {
  return index == kNone || index < size;
}

StepShape ShapeOfGroup(const LedgerResult& rank) {
  return rank.group < rank.steps.groups.size()
             ? rank.steps.groups[rank.group].shape
             : StepShape{};
}

/// Times so far apart that their difference has no 64 bits are damage of a
/// trace.
void ExpectTime(int64_t time_ns) {
  constexpr int64_t kMost = int64_t{1} << 62;
  if (time_ns >= kMost || time_ns <= -kMost) ThrowTimeOverflow();
}

bool Equal(const StepShape& a, const StepShape& b) { return Tie(a) == Tie(b); }

void CheckStep(const StepAmounts& step) {
  const int64_t idle = step.idle.value_or(0);
  Expect(step.busy == CheckedSub(CheckedSub(step.sum, step.hidden_same_lane),
                                 step.hidden_cross_lane),
         "a step's busy time is not its sum without what is hidden");
  Expect(step.wall.has_value() == step.idle.has_value() &&
             step.wall.has_value() == step.idle_inside.has_value(),
         "a step has a wall and no idle time, or the other way round");
  Expect(CheckedSub(idle, step.idle_inside.value_or(0)) ==
             CheckedAdd(CheckedAdd(step.idle_host_late, step.idle_queued),
                        step.idle_unknown),
         "a step's idle time is not that of its causes");
  const LaunchCauses& between = step.idle_between;
  const LaunchCauses& tail = step.idle_tail;
  Expect(CheckedAdd(between.host_late, tail.host_late) <= step.idle_host_late &&
             CheckedAdd(between.queued, tail.queued) <= step.idle_queued &&
             CheckedAdd(between.unknown, tail.unknown) <= step.idle_unknown,
         "a part of a step's idle time is longer than it");
  Expect(!step.wall || *step.wall == CheckedAdd(CheckedAdd(step.busy, idle),
                                                step.foreign),
         "busy, foreign and idle time are not a step's wall");
}

void CheckSteps(const LedgerResult& rank) {
  const Steps& steps = rank.steps;
  const size_t groups = std::max<size_t>(steps.groups.size(), 1);
  Expect(IsIndex(rank.group, groups) && IsIndex(steps.main_group, groups),
         "the group accounted is none of its groups");
  for (const Step& step : steps.steps) {
    Expect(IsIndex(step.group, groups), "a step is of no group");
    ExpectTime(step.begin_ns);
    ExpectTime(step.next_begin_ns.value_or(0));
  }
  std::set<uint32_t> seen;
  for (const StepAmounts& amounts : rank.step_amounts) {
    Expect(IsIndex(amounts.step, steps.steps.size()) &&
               seen.insert(amounts.step).second,
           "a step is accounted that it does not have, or twice");
    Expect(amounts.rank_wait == 0, "the waiting for ranks is counted already");
    CheckStep(amounts);
  }
  Expect(rank.used_steps == static_cast<int64_t>(rank.step_amounts.size()) &&
             IsIndex(rank.representative_step,
                     std::max<size_t>(steps.steps.size(), 1)),
         "the number of steps is wrong");
}

/// Adds what must not pass 2^63 when sums of it are checked, or joined.
class Bound {
 public:
  void Add(int64_t amount) {
    Expect(amount >= 0, "an amount of time is less than nothing");
    total_ = CheckedAdd(total_, amount);
  }
  void Add(const Amounts& row) {
    for (const int64_t amount :
         {row.sum_ns, row.attributed_ns, row.exclusive_ns,
          row.hidden_same_lane_ns, row.hidden_cross_lane_ns})
      Add(amount);
    Expect(row.count >= 0, "a number of calls is less than none");
  }
  int64_t total() const { return total_; }

 private:
  int64_t total_ = 0;
};

template <typename Rows>
void BoundRows(const Rows& rows) {
  Bound bound;
  for (const auto& row : rows) bound.Add(row.amounts);
}

void BoundSteps(const std::vector<StepAmounts>& steps) {
  for (const auto member :
       {&StepAmounts::span, &StepAmounts::replay_span, &StepAmounts::sum,
        &StepAmounts::busy, &StepAmounts::foreign, &StepAmounts::copy_only,
        &StepAmounts::hidden_same_lane, &StepAmounts::hidden_cross_lane,
        &StepAmounts::idle_host_late, &StepAmounts::idle_queued,
        &StepAmounts::idle_unknown, &StepAmounts::kernels, &StepAmounts::ops}) {
    Bound bound;
    for (const StepAmounts& step : steps) bound.Add(step.*member);
  }
  for (const auto place :
       {&StepAmounts::idle_between, &StepAmounts::idle_tail}) {
    for (const auto cause : {&LaunchCauses::host_late, &LaunchCauses::queued,
                             &LaunchCauses::unknown}) {
      Bound bound;
      for (const StepAmounts& step : steps) bound.Add((step.*place).*cause);
    }
  }
  for (const auto member :
       {&StepAmounts::wall, &StepAmounts::idle, &StepAmounts::idle_inside}) {
    Bound bound;
    for (const StepAmounts& step : steps) bound.Add((step.*member).value_or(0));
  }
}

void CheckAmounts(const LedgerResult& rank) {
  Bound categories;
  for (const Amounts& row : rank.categories) categories.Add(row);
  Expect(rank.rank_wait == Amounts{}, "the waiting for ranks is moved already");
  BoundRows(rank.kernels);
  BoundRows(rank.families);
  BoundSteps(rank.step_amounts);
  Bound buckets, rules, coverage;
  for (const HistogramBucket& bucket : rank.histogram)
    buckets.Add(bucket.sum_ns);
  for (const RuleHits& row : rank.rule_hits) rules.Add(row.sum_ns);
  for (const int64_t amount :
       {rank.coverage.unclassified_ns, rank.coverage.other_ns,
        rank.coverage.total_ns, rank.coverage.foreign_ns,
        rank.coverage.outside_steps_ns})
    coverage.Add(amount);
  for (const DeviceTotals& device : rank.devices) {
    Bound bound;
    for (const int64_t amount :
         {device.sum_ns, device.busy_ns, device.span_ns, device.idle_ns})
      bound.Add(amount);
  }
}

/// What means a cycle rely on; that parts add up is checked with all sums.
void CheckCycleCounts(const LedgerResult& rank) {
  const Cycles& cycles = rank.cycles;
  Bound kinds;
  int64_t told = 0;
  for (size_t i = 0; i < kCycleKinds; ++i) {
    kinds.Add(cycles.steps[i]);
    if (IsCycle(static_cast<CycleKind>(i)))
      told = CheckedAdd(told, cycles.steps[i]);
  }
  Expect(kinds.total() == rank.used_steps && cycles.cycles <= told &&
             (cycles.cycles > 0) == (told > 0),
         "the number of cycles is wrong");
  Bound bound;
  for (const int64_t part : cycles.part_ns) bound.Add(part);
  for (const int64_t amount :
       {cycles.cycles, cycles.wall_ns, cycles.foreign_ns, cycles.idle_ns,
        cycles.drafts, cycles.least_drafts, cycles.most_drafts, cycles.marked,
        cycles.verify_depth, cycles.draft_depth})
    bound.Add(amount);
}

void CheckChecks(const LedgerResult& rank) {
  for (const CaptureCheck& check : rank.capture_checks)
    Expect(check.ranks.empty(), "a check is of ranks that it does not know");
}

void CheckSequence(const LedgerResult& rank) {
  Bound bound;
  for (const SequenceOp& op : rank.sequence) {
    ExpectTime(op.start_ns);
    Expect(IsIndex(op.kernel, rank.kernels.size()),
           "a call of the representative step is of no kernel");
    for (const int64_t amount :
         {op.dur_ns, op.attributed_ns, op.hidden_same_lane_ns,
          op.hidden_cross_lane_ns, op.wait_attributed_ns, op.wait_same_lane_ns,
          op.wait_cross_lane_ns})
      bound.Add(amount);
  }
}

void CheckLoose(const LedgerResult& rank) {
  for (const LooseOp& op : rank.loose) {
    ExpectTime(op.start_ns);
    Expect(IsIndex(op.kernel, rank.loose_kernels.size()),
           "an operation of no step is of no kernel");
  }
}

void CheckTables(const LedgerResult& rank) {
  std::set<std::pair<std::string_view, Category>> families;
  for (const FamilyRow& row : rank.families)
    Expect(families.emplace(row.family, row.category).second,
           "a family stands twice");
  for (const KernelRow& row : rank.kernels) {
    Expect(families.contains({row.family, row.category}),
           "a kernel is of no family");
    Expect(row.rank_wait_ns == 0, "the waiting for ranks is moved already");
  }
}

void CheckTimes(const Collectives& collectives, int64_t base_time_ns) {
  for (const CollectiveCall& call : collectives.calls) {
    Expect(call.start_ns <= call.end_ns, "a call ends before it starts");
    for (const int64_t time :
         {call.start_ns, call.end_ns, call.clipped_start_ns}) {
      ExpectTime(time);
      ExpectTime(CheckedAdd(time, base_time_ns));
    }
    Expect(IsIndex(call.name, collectives.names.size()) &&
               IsIndexOrNone(call.group, collectives.groups.size()),
           "a collective has no name");
  }
}

void CheckSegments(const LedgerResult& rank, const CollectiveCall& call,
                   Bound* all) {
  const std::vector<CallSegment>& segments = rank.collectives.segments;
  Expect(call.first_segment <= segments.size() &&
             call.segments <= segments.size() - call.first_segment,
         "a collective has more pieces than there are");
  int64_t length = 0;
  for (uint32_t i = 0; i < call.segments; ++i) {
    const CallSegment& segment = segments[call.first_segment + i];
    for (const int64_t part :
         {segment.attributed_ns, segment.hidden_same_lane_ns,
          segment.hidden_cross_lane_ns})
      all->Add(part);
    length += segment.length_ns();
  }
  Expect(length == 0 || (call.clipped_start_ns >= call.start_ns &&
                         length <= call.end_ns - call.clipped_start_ns),
         "the pieces of a collective are longer than it");
}

/// What moving rank wait relies on (collectives.cc).
void CheckCalls(const LedgerResult& rank) {
  std::set<uint32_t> used;
  for (const StepAmounts& amounts : rank.step_amounts)
    used.insert(amounts.step);
  Bound bound;
  for (const CollectiveCall& call : rank.collectives.calls) {
    Expect(IsIndexOrNone(call.step, rank.steps.steps.size()) &&
               IsIndexOrNone(call.kernel, rank.kernels.size()),
           "a collective is of no step or no kernel");
    Expect(call.idle_before_ns >= 0, "a device is idle for less than no time");
    CheckSegments(rank, call, &bound);
    if (call.kernel == kNone) continue;
    Expect(used.contains(call.step) &&
               rank.kernels[call.kernel].category == Category::kCommunication,
           "a collective is of a step or kernel that has none");
  }
}

}  // namespace

PackedRank Pack(const LedgerResult& rank) {
  PackedRank packed;
  packed.source = rank.source;
  packed.shape = ShapeOfGroup(rank);
  packed.calls = ZstdFrame(ToArchive(rank.collectives));
  packed.rest = ZstdFrame(ToArchive(rank));
  return packed;
}

Collectives UnpackCalls(const PackedRank& packed) {
  auto collectives = Unfold<Collectives>(packed.calls);
  CheckTimes(collectives, packed.source.info.base_time_ns);
  return collectives;
}

LedgerResult Unpack(const PackedRank& packed) {
  auto rank = Unfold<LedgerResult>(packed.rest);
  rank.source = packed.source;
  rank.collectives = UnpackCalls(packed);
  CheckAmounts(rank);
  CheckSteps(rank);
  CheckCycleCounts(rank);
  CheckTables(rank);
  CheckLoose(rank);
  CheckSequence(rank);
  CheckChecks(rank);
  CheckCalls(rank);
  Expect(Equal(ShapeOfGroup(rank), packed.shape), "its shape is another one");
  for (KernelRow& row : rank.kernels) row.call_ns = row.calls.Summary();
  rank.per_step = SummaryOf(rank.step_amounts);
  rank.per_step.launch_lead = rank.launch_leads.Summary();
  if (rank.wait_basis == WaitBasis::kUnknown) rank.per_step.rank_wait = {};
  try {
    CheckSums(rank);
  } catch (const ContractError& error) {
    FailDamaged(error.what());
  }
  return rank;
}

}  // namespace inferdiff
