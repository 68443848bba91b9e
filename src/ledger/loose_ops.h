// SPDX-License-Identifier: Apache-2.0
// Ops around the representative step that no step launched: what the engine
// does between two passes, behind its own markers.
#pragma once

#include "ledger/kernel_table.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// LedgerResult::loose: from the step's begin to the next step's, or the end of
/// the trace; of the trace's first step also what is in front.
void FillLoose(const Trace& trace, const Steps& steps, const KernelTable& table,
               LedgerResult* ledger);

}  // namespace inferdiff
