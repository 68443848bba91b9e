// SPDX-License-Identifier: Apache-2.0
// Engines capture their graphs before they serve, and some profile that. The
// launches of a capture run nothing: what little runs beside them is no pass.
#pragma once

#include <string>

#include "ledger/ledger.h"

namespace inferdiff {

/// More graphs were captured than replayed, and no marker names a pass.
bool IsCaptureRun(const LedgerResult& ledger);

/// "captures 2 graphs and replays 0: its kernels are recorded, not run". Starts
/// with the verb.
std::string CaptureRunText(const LedgerResult& ledger);

}  // namespace inferdiff
