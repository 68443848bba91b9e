// SPDX-License-Identifier: Apache-2.0
#include "ledger/step_layers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/stat.h"
#include "ledger/kernel_table.h"
#include "ledger/share_sweep.h"
#include "ledger/step_ops.h"

namespace inferdiff {
namespace {

std::vector<int64_t> SpansOf(const Trace& trace, const Steps& steps) {
  std::vector<int64_t> begin(steps.steps.size(), INT64_MAX);
  std::vector<int64_t> end(steps.steps.size(), INT64_MIN);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const uint32_t step = steps.step_of_op[i];
    if (step == kNone) continue;
    begin[step] = std::min(begin[step], trace.ops.start_ns[i]);
    end[step] = std::max(end[step], trace.ops.end_ns(i));
  }
  for (size_t step = 0; step < end.size(); ++step)
    end[step] =
        end[step] < begin[step] ? 0 : CheckedSub(end[step], begin[step]);
  return end;
}

/// A step's ops in order of start, and what roles need of their kernels.
struct StepInput {
  std::vector<LayerOp> ops;
  std::vector<PlacedOp> placed;            // without place and role
  std::vector<std::string_view> families;  // by LayerOp::name

  void Add(const LayerOp& op, uint64_t ordinal, int64_t attributed_ns) {
    PlacedOp of;
    of.ordinal = ordinal;
    of.attributed_ns = attributed_ns;
    of.position = static_cast<uint32_t>(placed.size());
    of.kernel = op.name;
    of.lane = op.lane;
    ops.push_back(op);
    placed.push_back(of);
  }
};

StepInput Reordered(const StepInput& input,
                    const std::vector<uint32_t>& order) {
  StepInput out;
  out.families = input.families;
  for (const uint32_t i : order) {
    out.ops.push_back(input.ops[i]);
    out.placed.push_back(input.placed[i]);
  }
  return out;
}

/// Positions in the order of the records, where a kernel's calls are those of
/// its records in order of start: the names are known to be right, and layers
/// run one after the other. Empty where the records stand in order of start.
std::vector<uint32_t> OrderOfRecords(const StepInput& input) {
  std::vector<uint32_t> order(input.placed.size());
  std::iota(order.begin(), order.end(), 0);
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return input.placed[a].ordinal < input.placed[b].ordinal;
  };
  if (std::is_sorted(order.begin(), order.end(), earlier)) return {};
  std::stable_sort(order.begin(), order.end(), earlier);
  std::vector<std::vector<uint32_t>> calls(input.families.size());
  for (uint32_t i = 0; i < input.placed.size(); ++i)
    calls[input.placed[i].kernel].push_back(i);
  std::vector<size_t> next(calls.size(), 0);
  for (uint32_t& position : order) {
    const uint32_t kernel = input.placed[position].kernel;
    position = calls[kernel][next[kernel]++];
  }
  return order;
}

void FillPlaces(const Layers& layers, std::vector<PlacedOp>* ops) {
  for (size_t i = 0; i < ops->size(); ++i) {
    PlacedOp& op = (*ops)[i];
    op.layer = layers.layer_of_op[i];
    op.slot = layers.slot_of_op[i];
    if (op.layer == kNone) continue;
    op.pass = layers.layers[op.layer].pass;
    op.kind = layers.layers[op.layer].kind;
  }
}

/// One row a role in layers and one a role outside, in order of their first
/// ops.
std::vector<RoleRow> RowsOf(const std::vector<PlacedOp>& ops) {
  struct Seen {
    size_t row = SIZE_MAX;
    uint32_t layer = kNone;  // the last one that has it
  };
  std::vector<RoleRow> rows;
  for (const bool in_layers : {true, false}) {
    std::array<Seen, kRoleCount> seen;
    for (const PlacedOp& op : ops) {
      if ((op.layer != kNone) != in_layers) continue;
      Seen& of = seen[static_cast<size_t>(op.role.role)];
      if (of.row == SIZE_MAX) {
        of.row = rows.size();
        rows.push_back({.role = op.role.role, .in_layers = in_layers});
      }
      RoleRow& row = rows[of.row];
      ++row.ops;
      row.attributed_ns = CheckedAdd(row.attributed_ns, op.attributed_ns);
      if (in_layers && of.layer != op.layer) ++row.layers;
      of.layer = op.layer;
    }
  }
  return rows;
}

/// AMD's profiler can give the times of a graph's kernels to others of them;
/// their records still stand in the order of their launch.
StepLayers Find(uint32_t step, StepInput input) {
  StepLayers out;
  out.step = step;
  out.layers = FindLayers(input.ops);
  if (out.layers.alike_ops < out.layers.layer_ops) {
    if (const auto order = OrderOfRecords(input); !order.empty()) {
      StepInput by_record = Reordered(input, order);
      Layers layers = FindLayers(by_record.ops);
      if (layers.alike_ops > out.layers.alike_ops) {
        out.by_record = true;
        out.layers = std::move(layers);
        input = std::move(by_record);
      }
    }
  }
  const std::vector<RoleOfOp> roles =
      FindRoles(input.ops, out.layers, input.families, ShippedRoleRules());
  out.ops = std::move(input.placed);
  for (size_t i = 0; i < roles.size(); ++i) out.ops[i].role = roles[i];
  FillPlaces(out.layers, &out.ops);
  out.roles = RowsOf(out.ops);
  return out;
}

/// Roles of what no step launched: by their kernels and each other alone.
std::vector<PlacedOp> LooseOf(const LedgerResult& ledger) {
  StepInput input;
  for (const LooseKernel& kernel : ledger.loose_kernels)
    input.families.push_back(kernel.family);
  for (const LooseOp& op : ledger.loose)
    input.Add({.name = op.kernel,
               .category = ledger.loose_kernels[op.kernel].category,
               .lane = op.lane},
              op.ordinal, 0);
  Layers none;
  none.layer_of_op.assign(input.ops.size(), kNone);
  none.slot_of_op = none.layer_of_op;
  const std::vector<RoleOfOp> roles =
      FindRoles(input.ops, none, input.families, ShippedRoleRules());
  for (size_t i = 0; i < roles.size(); ++i) input.placed[i].role = roles[i];
  return std::move(input.placed);
}

/// The context rule that gives a split-K reduction its GEMM's category.
constexpr std::string_view kTailRule = "split-k-inherits";

}  // namespace

uint32_t RepresentativeStep(const Trace& trace, const Steps& steps,
                            uint32_t group) {
  std::vector<uint32_t> used, walled;
  for (uint32_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (step.group != group || !step.excluded_id.empty()) continue;
    used.push_back(i);
    if (step.next_begin_ns) walled.push_back(i);
  }
  if (used.empty()) return kNone;
  std::vector<int64_t> length;
  if (walled.empty()) {
    const std::vector<int64_t> spans = SpansOf(trace, steps);
    for (const uint32_t i : used) length.push_back(spans[i]);
  } else {
    used = walled;
    for (const uint32_t i : used)
      length.push_back(std::max<int64_t>(
          0,
          CheckedSub(*steps.steps[i].next_begin_ns, steps.steps[i].begin_ns)));
  }
  const int64_t median = Summarise(length).median;
  const auto found = std::find(length.begin(), length.end(), median);
  return used[static_cast<size_t>(found - length.begin())];
}

StepLayers LayersOfStep(const Trace& trace, const Classification& classes,
                        const RuleSet& rules, const Steps& steps,
                        uint32_t step) {
  std::vector<bool> wanted(steps.steps.size(), false);
  wanted[step] = true;
  const StepOps index(trace, steps, wanted);
  const KernelTable table(trace, classes);
  ShareSweep sweep(index);
  sweep.Run(step, {}, nullptr);
  StepInput input;
  for (const KernelTable::Kernel& kernel : table.kernels())
    input.families.push_back(kernel.name->family);
  uint32_t position = 0;
  for (const uint32_t op : index.of(step)) {
    const uint32_t kernel = table.KernelOf(op);
    const RuleId rule = table.kernels()[kernel].rule;
    input.Add({.name = kernel,
               .category = classes.of_op[op],
               .replay = steps.replay_of_op[op],
               .lane = steps.normal_lane[op],
               .tail = rules.rules()[rule].id == kTailRule},
              trace.ops.ordinal[op], sweep.Share(position++).attributed_ns);
  }
  return Find(step, std::move(input));
}

void FillLayers(LedgerResult* ledger) {
  StepInput input;
  for (const KernelRow& kernel : ledger->kernels)
    input.families.push_back(kernel.family);
  for (const SequenceOp& op : ledger->sequence) {
    const KernelRow& kernel = ledger->kernels[op.kernel];
    input.Add({.name = op.kernel,
               .category = kernel.category,
               .replay = op.replay,
               .lane = op.lane,
               .tail = kernel.rule == kTailRule},
              op.ordinal, op.attributed_ns);
  }
  ledger->layers = Find(ledger->representative_step, std::move(input));
  if (!ledger->loose.empty()) ledger->layers.loose = LooseOf(*ledger);
}

}  // namespace inferdiff
