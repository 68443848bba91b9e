// SPDX-License-Identifier: Apache-2.0
// What the cycles of the used steps cost, part by part.
//
//   wall = draft + verify + sample + other + foreign + idle, to the nanosecond
//
// A part has the attributed time of its ops, waiting for other ranks included,
// and what is idle inside replays in front of one of them. `idle` is outside
// replays. docs/cycles.md says which op is in which part.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "steps/steps.h"

namespace inferdiff {

struct Cycles {
  /// Used steps by CycleKind; those that are no cycle are in nothing below.
  std::array<int64_t, kCycleKinds> steps{};

  // Over the cycles that have a wall; without any over all, each up to the end
  // of its last op.
  bool wall_known = false;
  int64_t cycles = 0;
  int64_t wall_ns = 0;
  std::array<int64_t, kCycleParts> part_ns{};  // by CyclePart
  int64_t foreign_ns = 0;
  int64_t idle_ns = 0;                        // outside replays
  int64_t drafts = 0;                         // passes that draft
  int64_t least_drafts = 0, most_drafts = 0;  // of a cycle
  int64_t marked = 0;  // cycles whose drafts are named by markers
  // Blocks of attention of the deepest pass; 0 where no attention is known.
  int64_t verify_depth = 0, draft_depth = 0;

  int64_t of(CyclePart part) const {
    return part_ns[static_cast<size_t>(part)];
  }
  void Add(const Cycles& other);
};

/// What all used steps together are: of one kind where at most a tenth is
/// something else. Nothing without used steps.
std::optional<CycleKind> KindOf(const Cycles& cycles);
/// The same, where they are cycles.
bool AreCycles(const Cycles& cycles);

/// Throws ContractError where the parts do not add up to the wall.
void CheckCycles(const Cycles& cycles);

}  // namespace inferdiff
