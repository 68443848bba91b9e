// SPDX-License-Identifier: Apache-2.0
// What a function of a runtime or a driver does to the GPU, by its name.
#pragma once

#include <string_view>

#include "model/trace.h"

namespace inferdiff {

/// What a host call of this name does, or that nobody asks for it.
struct NameUse {
  bool kept = false;
  CallKind kind = CallKind::kKernelLaunch;
  bool begins_capture = false;  // of a graph: to be counted
};

/// Of either vendor: "cudaLaunchKernel", "hipGraphLaunch_spt",
/// "cuLaunchKernelEx", also with a version behind it: "cudaMemcpy_v3020".
NameUse UseOfCall(std::string_view name);

}  // namespace inferdiff
