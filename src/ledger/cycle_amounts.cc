// SPDX-License-Identifier: Apache-2.0
#include "ledger/cycle_amounts.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/error.h"

namespace inferdiff {
namespace {

void AddTo(int64_t amount, int64_t* total) {
  *total = CheckedAdd(*total, amount);
}

}  // namespace

void Cycles::Add(const Cycles& other) {
  std::array<int64_t, kCycleKinds> kinds = steps;
  for (size_t i = 0; i < kCycleKinds; ++i) AddTo(other.steps[i], &kinds[i]);
  if (cycles == 0 || (other.wall_known && !wall_known)) {
    if (other.cycles > 0) *this = other;
  } else if (other.cycles > 0 && other.wall_known == wall_known) {
    AddTo(other.cycles, &cycles);
    AddTo(other.wall_ns, &wall_ns);
    for (size_t i = 0; i < kCycleParts; ++i)
      AddTo(other.part_ns[i], &part_ns[i]);
    AddTo(other.foreign_ns, &foreign_ns);
    AddTo(other.idle_ns, &idle_ns);
    AddTo(other.drafts, &drafts);
    AddTo(other.marked, &marked);
    least_drafts = std::min(least_drafts, other.least_drafts);
    most_drafts = std::max(most_drafts, other.most_drafts);
    verify_depth = std::max(verify_depth, other.verify_depth);
    draft_depth = std::max(draft_depth, other.draft_depth);
  }
  steps = kinds;
}

std::optional<CycleKind> KindOf(const Cycles& cycles) {
  int64_t all = 0, told = 0;
  size_t most = kCycleKinds;  // of what is no cycle
  for (size_t i = 0; i < kCycleKinds; ++i) {
    all = CheckedAdd(all, cycles.steps[i]);
    if (IsCycle(static_cast<CycleKind>(i))) {
      told += cycles.steps[i];
    } else if (most == kCycleKinds || cycles.steps[i] > cycles.steps[most]) {
      most = i;
    }
  }
  if (all == 0) return std::nullopt;
  if (all - told > all / 10) return static_cast<CycleKind>(most);
  const auto speculative = static_cast<size_t>(CycleKind::kSpeculative);
  return cycles.steps[speculative] > 0 ? CycleKind::kSpeculative
                                       : CycleKind::kPlain;
}

bool AreCycles(const Cycles& cycles) {
  const std::optional<CycleKind> kind = KindOf(cycles);
  return kind && IsCycle(*kind);
}

void CheckCycles(const Cycles& cycles) {
  int64_t sum = CheckedAdd(cycles.foreign_ns, cycles.idle_ns);
  for (const int64_t part : cycles.part_ns) sum = CheckedAdd(sum, part);
  if (sum != cycles.wall_ns)
    throw ContractError("the parts of the cycles are not their wall time");
}

}  // namespace inferdiff
