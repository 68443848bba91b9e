// SPDX-License-Identifier: Apache-2.0
// Do equal shapes mean equal work? Experts take as long as their tokens need.
#pragma once

#include <optional>

#include "classify/classify.h"
#include "integrity/capture_check.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// GEMMs at one place of the step, by kernel and number of its call, over at
/// least four steps: how far their 90th percentiles exceed their 10th, in parts
/// of their medians, all summed. That of experts must be 15 % and twice that of
/// dense GEMMs, whose work is equal: they share the clocks and the profiler.
/// With even routing it was 2 to 9 % in 10 captures of one H200, 14 % where
/// eight experts shared 512 tokens at random.
std::optional<CaptureCheck> CheckUnevenExperts(const StepOps& index,
                                               const Classification& classes);

}  // namespace inferdiff
