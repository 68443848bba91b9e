// SPDX-License-Identifier: Apache-2.0
#include "ledger/step_layers.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/stat.h"
#include "ledger/kernel_table.h"
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

struct RecordedOp {
  LayerOp op;
  uint64_t ordinal = 0;
};

StepLayers FindInOrder(uint32_t step, const std::vector<RecordedOp>& recorded) {
  StepLayers out;
  out.step = step;
  std::vector<LayerOp> ops;
  ops.reserve(recorded.size());
  out.ordinals.reserve(recorded.size());
  for (const RecordedOp& op : recorded) {
    ops.push_back(op.op);
    out.ordinals.push_back(op.ordinal);
  }
  out.layers = FindLayers(ops);
  return out;
}

/// AMD's profiler can give the times of a graph's kernels to others of them;
/// their records still stand in the order of their launch.
StepLayers Find(uint32_t step, std::vector<RecordedOp> ops) {
  StepLayers by_time = FindInOrder(step, ops);
  const auto earlier = [](const RecordedOp& a, const RecordedOp& b) {
    return a.ordinal < b.ordinal;
  };
  if (by_time.layers.alike_ops == by_time.layers.layer_ops ||
      std::is_sorted(ops.begin(), ops.end(), earlier))
    return by_time;
  std::stable_sort(ops.begin(), ops.end(), earlier);
  StepLayers by_record = FindInOrder(step, ops);
  by_record.by_record = true;
  return by_record.layers.alike_ops > by_time.layers.alike_ops ? by_record
                                                               : by_time;
}

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
                        const Steps& steps, uint32_t step) {
  std::vector<bool> wanted(steps.steps.size(), false);
  wanted[step] = true;
  const StepOps index(trace, steps, wanted);
  const KernelTable table(trace, classes);
  std::vector<RecordedOp> ops;
  for (const uint32_t op : index.of(step))
    ops.push_back({{.name = table.KernelOf(op),
                    .category = classes.of_op[op],
                    .replay = steps.replay_of_op[op]},
                   trace.ops.ordinal[op]});
  return Find(step, std::move(ops));
}

StepLayers LayersOfSequence(const LedgerResult& ledger) {
  std::vector<RecordedOp> ops;
  ops.reserve(ledger.sequence.size());
  for (const SequenceOp& op : ledger.sequence)
    ops.push_back({{.name = op.kernel,
                    .category = ledger.kernels[op.kernel].category,
                    .replay = op.replay},
                   op.ordinal});
  return Find(ledger.representative_step, std::move(ops));
}

}  // namespace inferdiff
