// SPDX-License-Identifier: Apache-2.0
// Does the context grow where no marker says it? Attention, which reads all of
// it, knows.
#pragma once

#include <optional>

#include "classify/classify.h"
#include "integrity/capture_check.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// Attention takes longer from step to step: in 95 % of all pairs of steps, of
/// five at least, the later one's takes longer, and that of the last third 2 %
/// of the first third's length more than that of the first. Nothing where a
/// marker says the context. On 25 captures of constant context it is 81 % of
/// the pairs at most, or 0.3 % of the length. At most 1024 steps, evenly
/// spread.
std::optional<CaptureCheck> CheckAttentionTrend(const StepOps& index,
                                                const Classification& classes);

}  // namespace inferdiff
