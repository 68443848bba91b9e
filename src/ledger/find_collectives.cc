// SPDX-License-Identifier: Apache-2.0
#include "ledger/find_collectives.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace inferdiff {
namespace {

/// Names the families of communication, which are in order; returns each
/// family's number.
std::vector<uint32_t> NumberNames(const KernelTable& table,
                                  Collectives* found) {
  std::vector<uint32_t> number(table.families().size(), kNone);
  for (size_t family = 0; family < number.size(); ++family) {
    if (table.families()[family].category != Category::kCommunication) continue;
    number[family] = static_cast<uint32_t>(found->names.size());
    found->names.emplace_back(table.families()[family].family);
  }
  return number;
}

/// Idle time since the last call of a device ended, op by op in order of time.
class IdleSinceCall {
 public:
  /// To be called with every op; returns what it is before a call that starts
  /// with this op.
  int64_t Before(int64_t start_ns, int64_t end_ns, bool is_call) {
    if (first_) {
      busy_until_ = start_ns;
      first_ = false;
    }
    if (start_ns > busy_until_) idle_ += start_ns - busy_until_;
    const int64_t idle = idle_;
    busy_until_ = std::max(busy_until_, end_ns);
    if (is_call) idle_ = 0;
    return idle;
  }

 private:
  bool first_ = true;
  int64_t busy_until_ = 0;
  int64_t idle_ = 0;
};

void NumberPositions(Collectives* found) {
  std::vector<CollectiveCall>& calls = found->calls;
  const auto key = [&](uint32_t i) {
    return std::tuple(calls[i].step, calls[i].name, calls[i].lane);
  };
  std::vector<uint32_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(key(a), a) < std::tuple(key(b), b);
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (key(order[i]) == key(order[i - 1]))
      calls[order[i]].position = calls[order[i - 1]].position + 1;
}

/// Collectives and other kernels of communication.
bool IsCall(const GpuOps& ops, const Classification& classes, uint32_t op) {
  return classes.of_op[op] == Category::kCommunication &&
         ops.kind[op] == OpKind::kKernel;
}

/// They are many, and stay: memory that grew by doubling would be twice theirs.
size_t CountCalls(const GpuOps& ops, const Classification& classes) {
  size_t calls = 0;
  for (uint32_t op = 0; op < ops.size(); ++op)
    calls += static_cast<size_t>(IsCall(ops, classes, op));
  return calls;
}

/// By step; of unused ones nothing.
std::vector<StepWindow> WindowsOf(const StepOps& index) {
  std::vector<StepWindow> windows(index.steps().steps.size());
  for (const uint32_t step : index.wanted()) windows[step] = index.window(step);
  return windows;
}

}  // namespace

Collectives FindCollectives(const StepOps& index, const Classification& classes,
                            const KernelTable& table, StepAccounts* accounts,
                            const std::vector<uint32_t>& row_of) {
  Collectives found;
  const std::vector<uint32_t> number = NumberNames(table, &found);
  if (found.names.empty()) return found;
  const GpuOps& all = index.trace().ops;
  const Steps& steps = index.steps();
  found.calls.reserve(CountCalls(all, classes));
  found.segments = accounts->TakeSegments();
  const std::vector<StepWindow> windows = WindowsOf(index);
  found.groups = index.trace().process_groups;
  const std::vector<OpGroup>& groups = index.trace().op_groups;
  auto group = groups.begin();
  auto next = accounts->calls().begin();
  IdleSinceCall idle;
  for (uint32_t op = 0; op < all.size(); ++op) {
    const bool is_call = IsCall(all, classes, op);
    const int64_t idle_ns =
        idle.Before(all.start_ns[op], all.end_ns(op), is_call);
    if (!is_call) continue;
    const uint32_t kernel = table.KernelOf(op);
    CollectiveCall call;
    call.start_ns = all.start_ns[op];
    call.end_ns = all.end_ns(op);
    call.idle_before_ns = idle_ns;
    call.ordinal = all.ordinal[op];
    call.name = number[table.family_of()[kernel]];
    call.lane = steps.normal_lane[op];
    call.step = steps.step_of_op[op];
    while (group != groups.end() && group->op < op) ++group;
    if (group != groups.end() && group->op == op) call.group = group->group;
    if (call.step != kNone && index.IsWanted(call.step)) {
      call.kernel = row_of[kernel];
      call.clipped_start_ns = windows[call.step].Clip(call.start_ns);
    }
    if (next != accounts->calls().end() && next->op == op) {
      call.segments = next->segments;
      call.first_segment = next->first_segment;
      ++next;
    }
    found.calls.push_back(call);
  }
  NumberPositions(&found);
  return found;
}

}  // namespace inferdiff
