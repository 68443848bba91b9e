// SPDX-License-Identifier: Apache-2.0
// The steps that are in no figure of a group, and why: words for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "steps/steps.h"

namespace inferdiff {

/// "decode, batch 4, 4 tokens, context 4,096"; "steps of unknown kind".
std::string ShapeText(const StepShape& shape);

struct LeftOutStep {
  uint32_t step = 0;  // index in Steps::steps
  std::string id;     // Step::excluded_id, or "other-group"
  std::string why;
};

/// All steps but the used ones of `group`: with them, every step.
std::vector<LeftOutStep> LeftOutSteps(const Steps& steps, uint32_t group);

/// The same by id; `why` is the first step's, or names the other shapes.
struct LeftOutReason {
  std::string id, why;
  std::vector<std::string> steps;  // "7"; of a set of ranks "7 of rank 1"
};
/// `ranks` are LedgerResult::ranks, whose steps stand in a row in `steps`.
std::vector<LeftOutReason> LeftOutReasons(
    const Steps& steps, uint32_t group, const std::vector<RankRow>& ranks = {});

/// "2 steps of A left out (steps 0, 7): the profiler started in it"; `of` may
/// be "".
std::string LeftOutText(const LeftOutReason& reason, std::string_view of);

}  // namespace inferdiff
