// SPDX-License-Identifier: Apache-2.0
// Checks of what the host's side of a trace says: lost, ambiguous and repeated
// records, and the time of the profiler itself.
#pragma once

#include <optional>

#include "integrity/capture_check.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// Kernel launches that no op refers to, less the kernels that refer to no
/// launch, which may be theirs, unless a lane's order says that they were
/// launched earlier. Where graphs run, and half as many launches in
/// a row as their largest replay has kernels are lost, they were captured: the
/// window of the trace hides the call that begins a capture. In 26 public
/// traces there is none but in captures.
std::optional<CaptureCheck> CheckLostLaunches(const Trace& trace,
                                              const Steps& steps);

/// The same of graph launches; none where kernels without a launch might be
/// theirs.
std::optional<CaptureCheck> CheckLostGraphs(const Trace& trace);

/// Ops whose correlation several launch calls have.
std::optional<CaptureCheck> CheckAmbiguous(const Trace& trace);

/// Dropped by the reader, so that the figures hold.
std::optional<CaptureCheck> CheckRepeated(const Trace& trace);

/// The profiler's own time within the walls of used steps. A reservation from
/// a twentieth of the walls on; nothing below a thousandth.
std::optional<CaptureCheck> CheckProfilerTime(const Trace& trace,
                                              const Steps& steps);

}  // namespace inferdiff
