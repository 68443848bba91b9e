// SPDX-License-Identifier: Apache-2.0
// Steps from annotations. A host range bounds the launches; correlation
// carries them to the GPU, where the work runs later:
//
//   host   |step 1 [launch]|step 2 [launch]|step 3 ...
//               \               `-----.
//   lane 0       `->[ops of step 1....]`->[ops of step 2....]
//
// GPU ranges are the fallback where the trace has no host ranges: they are
// repeated on each lane and miss the kernels of graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steps/segmentation.h"

namespace inferdiff {

struct MarkerSteps {
  /// Absent: the trace has no marker, or none that launches the work.
  std::optional<Segmentation> steps;
  /// Says about the model only that a loop's iteration ran: ProfilerStep.
  bool generic = false;
  /// Why markers that are there were not used; empty without such.
  std::string unused;
};

MarkerSteps FindMarkerSteps(const StepInput& in);

}  // namespace inferdiff
