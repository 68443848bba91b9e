// SPDX-License-Identifier: Apache-2.0
// The layers of a step, from what the ledger and the trace hold of it.
#pragma once

#include "ledger/ledger.h"

namespace inferdiff {

/// The used step of the group whose wall time, or span where no wall is known,
/// is the median: LedgerResult::representative_step. kNone without used steps.
uint32_t RepresentativeStep(const Trace& trace, const Steps& steps,
                            uint32_t group);

/// Of any step of a trace; as FillLayers where it is representative and no
/// rank waits.
StepLayers LayersOfStep(const Trace& trace, const Classification& classes,
                        const RuleSet& rules, const Steps& steps,
                        uint32_t step);

/// LedgerResult::layers, from its sequence, once the waiting for other ranks
/// has been told apart.
void FillLayers(LedgerResult* ledger);

}  // namespace inferdiff
