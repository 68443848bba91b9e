// SPDX-License-Identifier: Apache-2.0
// Steps that a summary must leave out, each by name and with the reason.
#pragma once

#include "steps/segmentation.h"

namespace inferdiff {

/// A replay that seems to lack ops in a step of a shape in which its graph
/// never runs as a whole is of another graph, captured for that shape: it lacks
/// none. Where no marker tells shapes, and where no replay is whole, nothing
/// changes.
void ForgetLossesOfOtherShapes(Steps& steps);

/// Sets Step::excluded_id and excluded_why where they are empty and one of
/// these holds. A long step is no reason: there must be a cause in the trace.
///
///   idle-step            a data-parallel rank without work
///   missing-ops          the trace lost kernels of it
///   mixed-work           without markers: eager work among its launches
///   rank-entered-early   first step only: its collective waited for a rank
///                        that was not there yet
///   profiler-first-step  first step only: the GPU idled while the profiler
///                        started
///   no-successor         nothing ends its wall, and other steps have one
///
/// (Segments bring incomplete-step and head-cut.) Needs groups.
void ExcludeSteps(const StepInput& in, Steps& steps);

}  // namespace inferdiff
