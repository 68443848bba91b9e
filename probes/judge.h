// SPDX-License-Identifier: Apache-2.0
// Conclusions from measured figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/result.h"

namespace inferdiff {

/// Holds the bandwidths against those of an earlier report and sets verdict and
/// reasons: `contended` where one is slower, else `baseline-suspect` where one
/// is faster (the earlier run was disturbed), else `clean`. A difference counts
/// from 3% on, or from the sum of both spreads where that is more. Throws
/// std::runtime_error where the two have no bandwidth in common.
void JudgeCanary(const Report& baseline, Report* report);

/// What a tracer adds to a kernel that takes this long without it.
struct TraceCost {
  double untraced_ns = 0;  // from one kernel's start to the next one's
  double added_ns = 0;
};

/// Between the measured sizes linear, beyond them as at the nearest. `measured`
/// is in rising order and not empty.
double AddedByTracer(const std::vector<TraceCost>& measured,
                     double untraced_ns);

/// A kernel size and the duration that the tracer recorded for it.
struct Recorded {
  double untraced_ns = 0;
  double recorded_ns = 0;
};

/// A recorded duration is believed where it is at most 10% longer than the time
/// that the kernel takes, launch included, without the tracer.
bool Believed(const Recorded& recorded);
/// The shortest kernel from which on all sizes are believed.
std::optional<double> BelievedFrom(const std::vector<Recorded>& sizes);

}  // namespace inferdiff
