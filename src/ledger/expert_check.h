// SPDX-License-Identifier: Apache-2.0
// Do equal shapes mean equal work? Experts take as long as their tokens need.
#pragma once

#include <optional>

#include "classify/classify.h"
#include "integrity/capture_check.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// Expert GEMMs at one place of the step, by kernel and number of its call,
/// over at least four steps: their 90th percentiles exceed their 10th by a
/// quarter of their medians, all summed.
std::optional<CaptureCheck> CheckUnevenExperts(const StepOps& index,
                                               const Classification& classes);

}  // namespace inferdiff
