// SPDX-License-Identifier: Apache-2.0
// Which serving engine made a trace.
#pragma once

#include "ledger/ledger.h"

namespace inferdiff {

/// Engines take kernels and marker forms from one another, and anyone can
/// write a marker. A kernel in an engine's own namespace shows that its code
/// runs; a marker shows its form only.
FrameworkHint HintOf(const Trace& trace);

}  // namespace inferdiff
