// SPDX-License-Identifier: Apache-2.0
// What a ledger file holds of each struct (base/archive.h). A new field does
// not compile until it is named here, which changes the format: count
// kLedgerFormat up (ledger_file.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "ledger/ledger.h"

namespace inferdiff {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

// The last enumerator of each enumeration.
constexpr uint64_t LastOf(bool) { return 1; }
constexpr uint64_t LastOf(Vendor) {
  return static_cast<uint64_t>(Vendor::kAmd);
}
constexpr uint64_t LastOf(OpKind) {
  return static_cast<uint64_t>(OpKind::kMemset);
}
constexpr uint64_t LastOf(Category) { return kCategoryCount - 1; }
constexpr uint64_t LastOf(StepKind) {
  return static_cast<uint64_t>(StepKind::kOther);
}
constexpr uint64_t LastOf(Evidence) {
  return static_cast<uint64_t>(Evidence::kWholeTrace);
}
constexpr uint64_t LastOf(HintBasis) {
  return static_cast<uint64_t>(HintBasis::kMarkerForm);
}
constexpr uint64_t LastOf(WaitBasis) {
  return static_cast<uint64_t>(WaitBasis::kNoCalls);
}
constexpr uint64_t LastOf(Weight) {
  return static_cast<uint64_t>(Weight::kRefusal);
}
constexpr uint64_t LastOf(CheckKind) {
#define X(constant, id, title) +1
  return INFERDIFF_CAPTURE_CHECKS(X) - 1;
#undef X
}
constexpr uint64_t LastOf(Sole) { return static_cast<uint64_t>(Sole::kKernel); }

auto Tie(Is<TraceInfo> auto& value) {
  auto& [vendor, gpu, device, process, rank, world, sms, runtime, base,
         truncated, launches] = value;
  return std::tie(vendor, gpu, device, process, rank, world, sms, runtime, base,
                  truncated, launches);
}

auto Tie(Is<FrameworkHint> auto& value) {
  auto& [name, basis] = value;
  return std::tie(name, basis);
}

auto Tie(Is<Provenance> auto& value) {
  auto& [label, name_rank, size, crc32, format, info, hint, counters, rules] =
      value;
  return std::tie(label, name_rank, size, crc32, format, info, hint, counters,
                  rules);
}

auto Tie(Is<DeviceTotals> auto& value) {
  auto& [rank, device, ops, kernels, sum, busy, span, idle, launches] = value;
  return std::tie(rank, device, ops, kernels, sum, busy, span, idle, launches);
}

auto Tie(Is<StepShape> auto& value) {
  auto& [kind, batch, tokens, context] = value;
  return std::tie(kind, batch, tokens, context);
}

auto Tie(Is<Step> auto& value) {
  auto& [shape, marker, lane, begin, next_begin, ops, excluded_id, excluded_why,
         group, rank] = value;
  return std::tie(shape, marker, lane, begin, next_begin, ops, excluded_id,
                  excluded_why, group, rank);
}

auto Tie(Is<StepGroup> auto& value) {
  auto& [shape, context_min, context_max, steps, used] = value;
  return std::tie(shape, context_min, context_max, steps, used);
}

/// Without the columns of a trace, which a ledger does not have.
auto Tie(Is<Steps> auto& value) {
  auto& [evidence, how, cross_check, agrees, notes, steps, groups, main_group,
         damage, replays, step_of_op, replay_of_op, normal_lane, part_of_op,
         cycles] = value;
  return std::tie(evidence, how, cross_check, agrees, notes, steps, groups,
                  main_group);
}

auto Tie(Is<LaunchCauses> auto& value) {
  auto& [host_late, queued, unknown] = value;
  return std::tie(host_late, queued, unknown);
}

auto Tie(Is<StepAmounts> auto& value) {
  auto& [step, wall, idle, idle_inside, span, replay_span, sum, busy, foreign,
         copy_only, same_lane, cross_lane, rank_wait, kernels, ops, host_late,
         queued, unknown, between, tail] = value;
  return std::tie(step, wall, idle, idle_inside, span, replay_span, sum, busy,
                  foreign, copy_only, same_lane, cross_lane, rank_wait, kernels,
                  ops, host_late, queued, unknown, between, tail);
}

auto Tie(Is<Cycles> auto& value) {
  auto& [steps, wall_known, cycles, wall, parts, foreign, idle, drafts,
         least_drafts, most_drafts, marked, verify_depth, draft_depth] = value;
  return std::tie(steps, wall_known, cycles, wall, parts, foreign, idle, drafts,
                  least_drafts, most_drafts, marked, verify_depth, draft_depth);
}

auto Tie(Is<Amounts> auto& value) {
  auto& [count, sum, attributed, exclusive, same_lane, cross_lane] = value;
  return std::tie(count, sum, attributed, exclusive, same_lane, cross_lane);
}

auto Tie(Is<Distribution::Value> auto& value) {
  auto& [of, count] = value;
  return std::tie(of, count);
}

/// `call_ns` is that of `calls`.
auto Tie(Is<KernelRow> auto& value) {
  auto& [name, family, category, rule, library, amounts, rank_wait, call_ns,
         calls] = value;
  return std::tie(name, family, category, rule, library, amounts, rank_wait,
                  calls);
}

auto Tie(Is<FamilyRow> auto& value) {
  auto& [family, category, kernels, amounts] = value;
  return std::tie(family, category, kernels, amounts);
}

auto Tie(Is<HistogramBucket> auto& value) {
  auto& [count, sum] = value;
  return std::tie(count, sum);
}

auto Tie(Is<SequenceOp> auto& value) {
  auto& [ordinal, start, dur, attributed, same_lane, cross_lane, wait,
         wait_same_lane, wait_cross_lane, kernel, lane, replay, kind] = value;
  return std::tie(ordinal, start, dur, attributed, same_lane, cross_lane, wait,
                  wait_same_lane, wait_cross_lane, kernel, lane, replay, kind);
}

auto Tie(Is<LooseOp> auto& value) {
  auto& [ordinal, start, kernel, lane] = value;
  return std::tie(ordinal, start, kernel, lane);
}

auto Tie(Is<LooseKernel> auto& value) {
  auto& [family, category] = value;
  return std::tie(family, category);
}

auto Tie(Is<RuleHits> auto& value) {
  auto& [rule, category, names, ops, sum] = value;
  return std::tie(rule, category, names, ops, sum);
}

auto Tie(Is<Coverage> auto& value) {
  auto& [unclassified, other, total, foreign, outside, dropped] = value;
  return std::tie(unclassified, other, total, foreign, outside, dropped);
}

auto Tie(Is<CaptureCheck> auto& value) {
  auto& [kind, weight, count, of, time, of_time, detail, ranks] = value;
  return std::tie(kind, weight, count, of, time, of_time, detail, ranks);
}

auto Tie(Is<CallSegment> auto& value) {
  auto& [attributed, same_lane, cross_lane, sole] = value;
  return std::tie(attributed, same_lane, cross_lane, sole);
}

auto Tie(Is<CollectiveCall> auto& value) {
  auto& [start, end, ordinal, name, group, lane, step, position, kernel,
         clipped_start, idle_before, first_segment, segments] = value;
  return std::tie(start, end, ordinal, name, group, lane, step, position,
                  kernel, clipped_start, idle_before, first_segment, segments);
}

auto Tie(Is<Collectives> auto& value) {
  auto& [names, groups, calls, segments] = value;
  return std::tie(names, groups, calls, segments);
}

/// Of a rank, before ranks are joined. Provenance and collectives lie apart;
/// what per_step and layers say follows from the rest, accepted is given where
/// it is read, and the fields of a rank
/// set and of a table are empty.
auto Tie(Is<LedgerResult> auto& value) {
  auto& [source, devices, steps, group, used_steps, step_amounts, cycles,
         accepted, per_step, categories, rank_wait, wait_basis, collectives,
         kernels, families, histogram, rule_hits, representative, sequence,
         loose, loose_kernels, layers, coverage, checks, leads, published,
         ranks, long_waits, rank_findings, matched] = value;
  return std::tie(devices, steps, group, used_steps, step_amounts, cycles,
                  categories, rank_wait, wait_basis, kernels, families,
                  histogram, rule_hits, representative, sequence, loose,
                  loose_kernels, coverage, checks, leads);
}

template <typename Archive>
void Archived(Archive& archive, Is<Distribution> auto& value) {
  if constexpr (Archive::kReads) {
    std::vector<Distribution::Value> values;
    archive::Value(archive, values);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].count < 1 ||
          (i > 0 && values[i - 1].value >= values[i].value))
        FailDamaged("samples are out of order");
    }
    value = Distribution::From(std::move(values));
  } else {
    archive::Value(archive, value.values());
  }
}

/// By id, those that are not 0: later versions may have others in between.
template <typename Archive>
void Archived(Archive& archive, Is<ImportCounters> auto& value) {
  constexpr auto kCount = static_cast<size_t>(Counter::kCount);
  if constexpr (Archive::kReads) {
    for (size_t left = archive.Count(2); left > 0; --left) {
      const std::string_view id = archive.Text();
      size_t i = 0;
      while (i < kCount && InfoOf(static_cast<Counter>(i)).id != id) ++i;
      if (i == kCount) FailDamaged("a counter is unknown");
      value.Add(static_cast<Counter>(i), archive.Unsigned());
    }
  } else {
    size_t used = 0;
    for (size_t i = 0; i < kCount; ++i)
      used += value[static_cast<Counter>(i)] > 0 ? 1 : 0;
    archive.Unsigned(used);
    for (size_t i = 0; i < kCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      if (value[counter] == 0) continue;
      archive.Text(InfoOf(counter).id);
      archive.Unsigned(value[counter]);
    }
  }
}

}  // namespace inferdiff
