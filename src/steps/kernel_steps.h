// SPDX-License-Identifier: Apache-2.0
// Steps from the sequence of kernels alone: eager work without markers.
//
//   E L L L L S E L L L L S E L L L L S     E embedding, L layer, S sampling
//   |-- step --||-- step --||-- step --|
//
// Layers repeat as well, more often and just as regularly. What tells a step
// from a layer is that everything repeats with it, not only the layer's own
// kernels: a name that occurs once a step has one fixed place in it.
#pragma once

#include <optional>

#include "steps/segmentation.h"

namespace inferdiff {

/// Absent if nothing repeats three times or more, or only layers do.
std::optional<Segmentation> FindKernelSteps(const StepInput& in);

}  // namespace inferdiff
