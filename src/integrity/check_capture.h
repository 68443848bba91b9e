// SPDX-License-Identifier: Apache-2.0
// Trace and steps -> can this capture be trusted? What needs amounts of time
// is asked where those are (ledger/amount_checks.h).
#pragma once

#include <vector>

#include "classify/classify.h"
#include "integrity/capture_check.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// One check a kind at most, the gravest first; empty where nothing is wrong.
/// `steps` with their per-op columns. Linear in ops and calls.
std::vector<CaptureCheck> CheckCapture(const Trace& trace,
                                       const Classification& classes,
                                       const Steps& steps);

}  // namespace inferdiff
