// SPDX-License-Identifier: Apache-2.0
// What each kind of evidence gives: a list of segments, the steps to be, and
// whose each op is. Borders, groups and exclusions come after (assemble.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "model/trace.h"
#include "steps/replays.h"
#include "steps/steps.h"

namespace inferdiff {

/// In `of_op`: the op's time decides, once the borders are known.
inline constexpr uint32_t kByTime = kNone - 1;

/// A step to be, in host order.
struct Segment {
  StepShape shape;
  std::string marker;
  std::string excluded_id, excluded_why;
};

struct Segmentation {
  Evidence evidence = Evidence::kWholeTrace;
  std::string how;
  std::vector<std::string> notes;
  std::vector<Segment> segments;
  std::vector<uint32_t> of_op;  // segment index, kByTime or kNone
  /// By op: whether markers say that it was launched as draft work. Empty
  /// where none say so of any.
  std::vector<uint8_t> drafts;
};

/// Everything that the evidence looks at.
struct StepInput {
  const Trace& trace;
  const Classification& classes;
  const Replays& replays;
};

/// A collective or a copy: its time may be waiting, for other ranks or for the
/// bus, and says little about where the forward pass runs.
inline bool MayWait(const StepInput& in, uint32_t op) {
  return in.classes.of_op[op] == Category::kCommunication ||
         in.trace.ops.kind[op] != OpKind::kKernel;
}

/// Host calls by the segment that launched them -> ops. An op without a launch
/// record is left to its time; a replay's ops stay together.
std::vector<uint32_t> OpsOfCalls(const StepInput& in,
                                 const std::vector<uint32_t>& of_call);

}  // namespace inferdiff
