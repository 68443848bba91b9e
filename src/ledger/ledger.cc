// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/checked.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "integrity/check_capture.h"
#include "ledger/amount_checks.h"
#include "ledger/attention_check.h"
#include "ledger/check.h"
#include "ledger/expert_check.h"
#include "ledger/find_collectives.h"
#include "ledger/framework_hint.h"
#include "ledger/loose_ops.h"
#include "ledger/rows.h"
#include "ledger/step_accounts.h"

namespace inferdiff {
namespace {

// A thread costs some 50 us, as much as this many ops.
constexpr size_t kLeastOpsForAThread = 20000;

std::vector<bool> UsedSteps(const Steps& steps, uint32_t group) {
  std::vector<bool> used;
  for (const Step& step : steps.steps)
    used.push_back(step.group == group && step.excluded_id.empty());
  return used;
}

unsigned ThreadsFor(size_t ops, unsigned asked) {
  return static_cast<unsigned>(
      std::clamp<size_t>(ops / kLeastOpsForAThread, 1, ThreadCount(asked)));
}

/// Accounts for the steps in several threads, each with steps in a row.
StepAccounts AccountAll(const StepOps& index, const KernelTable& table,
                        unsigned threads, std::vector<StepAmounts>* amounts) {
  const std::vector<uint32_t>& used = index.wanted();
  const IdleScan idle(index);
  const size_t ops = index.size();
  const auto parts = static_cast<unsigned>(
      std::clamp<size_t>(ops / kLeastOpsForAThread, 1, ThreadCount(threads)));
  std::vector<StepAccounts> accounts;
  for (unsigned part = 0; part < parts; ++part)
    accounts.emplace_back(index, idle, table);
  amounts->resize(used.size());
  InParallel(parts, [&](unsigned part) {
    for (size_t i = 0; i < used.size(); ++i)
      if (index.first(used[i]) * parts / std::max<size_t>(ops, 1) == part)
        (*amounts)[i] = accounts[part].Account(used[i]);
  });
  for (unsigned part = 1; part < parts; ++part)
    accounts[0].Merge(accounts[part]);
  accounts[0].Finish();
  return std::move(accounts[0]);
}

/// Summarises a member over the steps that have it.
template <typename Member>
Stat Over(const std::vector<StepAmounts>& steps, Member StepAmounts::*member) {
  std::vector<int64_t> samples;
  for (const StepAmounts& step : steps) {
    if constexpr (std::is_same_v<Member, std::optional<int64_t>>) {
      if (step.*member) samples.push_back(*(step.*member));
    } else {
      samples.push_back(step.*member);
    }
  }
  return SummariseInPlace(samples);
}

/// Of the causes of idle time, which are unknown where that is.
template <typename Cause>
Stat OverKnownIdle(const std::vector<StepAmounts>& steps, Cause cause) {
  std::vector<int64_t> samples;
  for (const StepAmounts& step : steps)
    if (step.idle) samples.push_back(std::invoke(cause, step));
  return SummariseInPlace(samples);
}

void SummariseIdle(const std::vector<StepAmounts>& steps, PerStep* out) {
  const auto part = [&](LaunchCauses StepAmounts::*place, auto cause) {
    return OverKnownIdle(steps, [&](const StepAmounts& step) {
      return std::invoke(cause, step.*place);
    });
  };
  const auto rest = [&](int64_t StepAmounts::*all, auto cause) {
    return OverKnownIdle(steps, [&](const StepAmounts& step) {
      return step.*all - std::invoke(cause, step.idle_between) -
             std::invoke(cause, step.idle_tail);
    });
  };
  constexpr auto kLate = &LaunchCauses::host_late;
  constexpr auto kQueued = &LaunchCauses::queued;
  out->idle_host_late = OverKnownIdle(steps, &StepAmounts::idle_host_late);
  out->idle_queued = OverKnownIdle(steps, &StepAmounts::idle_queued);
  out->idle_unknown = OverKnownIdle(steps, &StepAmounts::idle_unknown);
  out->idle_between = part(&StepAmounts::idle_between, &LaunchCauses::total);
  out->idle_tail = part(&StepAmounts::idle_tail, &LaunchCauses::total);
  out->rest_host_late = rest(&StepAmounts::idle_host_late, kLate);
  out->rest_queued = rest(&StepAmounts::idle_queued, kQueued);
  out->rest_unknown = rest(&StepAmounts::idle_unknown, &LaunchCauses::unknown);
  out->between_host_late = part(&StepAmounts::idle_between, kLate);
  out->between_queued = part(&StepAmounts::idle_between, kQueued);
  out->tail_host_late = part(&StepAmounts::idle_tail, kLate);
  out->tail_queued = part(&StepAmounts::idle_tail, kQueued);
}

/// One sample a launch: its first op.
std::vector<int64_t> LaunchLeads(const StepOps& index,
                                 const std::vector<StepAmounts>& steps) {
  const Trace& trace = index.trace();
  std::vector<bool> seen(trace.calls.size());
  std::vector<int64_t> leads;
  for (const StepAmounts& step : steps) {
    for (const uint32_t op : index.of(step.step)) {
      const uint32_t launch = trace.ops.launch[op];
      if (launch == kNone || seen[launch]) continue;
      seen[launch] = true;
      const int64_t start = trace.ops.start_ns[op];
      const int64_t call = trace.calls.start_ns[launch];
      if (!FarApart(start, call)) leads.push_back(start - call);
    }
  }
  return leads;
}

void FillLaunchLeads(const StepOps& index, bool keep_samples,
                     LedgerResult* result) {
  std::vector<int64_t> leads = LaunchLeads(index, result->step_amounts);
  if (keep_samples) result->launch_leads.Add(leads);
  result->per_step.launch_lead = SummariseInPlace(leads);
}

/// The step of median wall time, or of median span where no wall is known.
uint32_t Representative(const LedgerResult& result) {
  const PerStep& stats = result.per_step;
  for (const StepAmounts& step : result.step_amounts)
    if (stats.wall.n > 0 ? step.wall == stats.wall.median
                         : step.span == stats.span.median)
      return step.step;
  return 0;
}

/// The step's replays in order of time, which is that of their indices.
std::vector<uint32_t> ReplaysOf(const Steps& steps,
                                std::span<const uint32_t> ops) {
  std::vector<uint32_t> replays;
  for (const uint32_t op : ops)
    if (steps.replay_of_op[op] != kNone)
      replays.push_back(steps.replay_of_op[op]);
  std::sort(replays.begin(), replays.end());
  replays.erase(std::unique(replays.begin(), replays.end()), replays.end());
  return replays;
}

std::vector<SequenceOp> SequenceOf(const StepOps& index,
                                   const KernelTable& table,
                                   const std::vector<uint32_t>& row_of,
                                   uint32_t step) {
  const GpuOps& all = index.trace().ops;
  const Steps& steps = index.steps();
  ShareSweep sweep(index);
  sweep.Run(step, {}, nullptr);
  const std::span<const uint32_t> ops = index.of(step);
  const std::vector<uint32_t> replays = ReplaysOf(steps, ops);
  std::vector<SequenceOp> sequence;
  sequence.reserve(ops.size());
  for (uint32_t position = 0; position < ops.size(); ++position) {
    const uint32_t op = ops[position];
    const OpShare share = sweep.Share(position);
    SequenceOp out;
    out.ordinal = all.ordinal[op];
    out.start_ns = CheckedSub(all.start_ns[op], steps.steps[step].begin_ns);
    out.dur_ns = all.dur_ns[op];
    out.attributed_ns = share.attributed_ns;
    out.hidden_same_lane_ns = share.hidden_same_lane_ns;
    out.hidden_cross_lane_ns = share.hidden_cross_lane_ns;
    out.kernel = row_of[table.KernelOf(op)];
    out.lane = steps.normal_lane[op];
    out.kind = all.kind[op];
    if (const uint32_t replay = steps.replay_of_op[op]; replay != kNone)
      out.replay = static_cast<uint32_t>(
          std::lower_bound(replays.begin(), replays.end(), replay) -
          replays.begin());
    sequence.push_back(out);
  }
  return sequence;
}

void DropColumns(Steps* steps) {
  Free(&steps->replays);
  Free(&steps->step_of_op);
  Free(&steps->replay_of_op);
  Free(&steps->normal_lane);
  Free(&steps->part_of_op);
  Free(&steps->cycles);
  Free(&steps->damage);
}

}  // namespace

PerStep SummaryOf(const std::vector<StepAmounts>& steps) {
  PerStep out;
  out.wall = Over(steps, &StepAmounts::wall);
  out.span = Over(steps, &StepAmounts::span);
  out.replay_span = Over(steps, &StepAmounts::replay_span);
  out.sum = Over(steps, &StepAmounts::sum);
  out.busy = Over(steps, &StepAmounts::busy);
  out.idle = Over(steps, &StepAmounts::idle);
  out.idle_inside = Over(steps, &StepAmounts::idle_inside);
  out.foreign = Over(steps, &StepAmounts::foreign);
  out.copy_only = Over(steps, &StepAmounts::copy_only);
  out.hidden_same_lane = Over(steps, &StepAmounts::hidden_same_lane);
  out.hidden_cross_lane = Over(steps, &StepAmounts::hidden_cross_lane);
  out.rank_wait = Over(steps, &StepAmounts::rank_wait);
  out.kernels = Over(steps, &StepAmounts::kernels);
  SummariseIdle(steps, &out);
  return out;
}

LedgerResult BuildLedger(const Trace& trace, const Classification& classes,
                         const RuleSet& rules, Steps steps,
                         const LedgerOptions& options) {
  LedgerResult result;
  result.source.info = trace.info;
  result.source.rules_hash = rules.hash();
  result.group = options.group.value_or(steps.main_group);

  const unsigned threads = ThreadsFor(trace.ops.size(), options.threads);
  std::optional<const StepOps> grouped;
  std::optional<const KernelTable> numbered;
  RunBoth(
      threads,
      [&] {
        grouped.emplace(trace, steps, UsedSteps(steps, result.group));
        result.devices.push_back(TotalsOfDevice(trace));
      },
      [&] {
        numbered.emplace(trace, classes);
        result.source.framework_hint = HintOf(trace);
      });
  const StepOps& index = *grouped;
  const KernelTable& table = *numbered;
  StepAccounts accounts =
      AccountAll(index, table, threads, &result.step_amounts);
  result.used_steps = static_cast<int64_t>(result.step_amounts.size());
  result.per_step = SummaryOf(result.step_amounts);
  result.histogram = accounts.histogram();
  result.cycles = accounts.cycles();

  FillCategories(table, accounts, &result);
  const std::vector<uint32_t> row_of =
      FillKernels(table, accounts, rules, &result);
  FillFamilies(table, accounts, &result);
  RunBoth(
      threads,
      [&] {
        FillLaunchLeads(index, options.keep_samples, &result);
        FillCallTimes(index, table, row_of, threads, options.keep_samples,
                      &result);
      },
      [&] {
        result.collectives =
            FindCollectives(index, classes, table, &accounts, row_of);
        result.capture_checks = CheckCapture(trace, classes, steps);
        if (auto check = CheckUnevenExperts(index, classes))
          MergeChecks({*std::move(check)}, &result.capture_checks);
        if (auto check = CheckAttentionTrend(index, classes))
          MergeChecks({*std::move(check)}, &result.capture_checks);
      });
  if (result.categories[static_cast<size_t>(Category::kCommunication)].count ==
          0 ||
      trace.info.world_size == 1)
    result.wait_basis = WaitBasis::kNoCalls;
  else
    result.per_step.rank_wait = {};  // unknown
  CheckSums(result);
  result.rule_hits = HitsOf(table, rules);
  result.coverage = CoverageOf(table, accounts.unclipped_ns(), result.per_step);
  if (result.used_steps > 0) {
    result.representative_step = Representative(result);
    result.sequence =
        SequenceOf(index, table, row_of, result.representative_step);
    FillLoose(trace, steps, table, &result);
  }
  DropColumns(&steps);
  result.steps = std::move(steps);
  AddAmountChecks(&result);
  return result;
}

}  // namespace inferdiff
