// SPDX-License-Identifier: Apache-2.0
// The representative steps, op by op, as something to draw.
//
//   lane 0   [norm][qkv ]  [attn.....][o   ]
//   lane 1          [copy..]
//   layers   |<-- 0 ------------------------>|<-- 1 ...
//   replays     |<-- 0 -----------------------------...
//
// Derived from what a result keeps; nothing is computed until it is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// All times in ns from the step's begin; negative in front of it. Nothing is
/// clipped at the step's borders.
struct TimelineOp {
  uint64_t ordinal = 0;  // of its record in the file
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  int64_t wait_ns = 0;  // of it: a collective's waiting for other ranks
  uint32_t lane = 0;    // normalised
  uint32_t kernel = 0;  // index in LedgerResult::kernels: name, category
  OpKind kind = OpKind::kKernel;
  Role role = Role::kOther;
  uint32_t layer = kNone;   // index in SideTimeline::layers
  uint32_t replay = kNone;  // index in SideTimeline::replays
  uint32_t group = kNone;   // index in Alignment::groups; kNone: one side only
};

struct TimelineSpan {
  int64_t begin_ns = 0;  // first start of its ops
  int64_t end_ns = 0;    // last end
  uint32_t ops = 0;
};

/// Ops of one lane: a range of SideTimeline::ops.
struct TimelineLane {
  uint32_t lane = 0;
  uint32_t begin = 0, end = 0;
};

struct SideTimeline {
  uint32_t step = 0;  // index in Steps::steps
  std::string rank;   // of a set: the label of the rank whose step it is
  std::optional<int64_t> wall_ns;
  std::vector<TimelineOp> ops;      // by lane, then start, end, ordinal
  std::vector<TimelineLane> lanes;  // in order of number; none is empty
  std::vector<TimelineSpan> layers;
  std::vector<TimelineSpan> replays;  // in order of number
  /// A sentence where the side has no ops to draw; else empty.
  std::string absent;
};

struct Timeline {
  SideTimeline a, b;
};

SideTimeline TimelineOf(const LedgerResult& ledger);
Timeline TimelineOf(const CompareResult& result);

}  // namespace inferdiff
