// SPDX-License-Identifier: Apache-2.0
// Which serving engine made a trace.
#pragma once

#include <string>

#include "model/trace.h"

namespace inferdiff {

/// "SGLang", "vLLM", "TensorRT-LLM", "ATOM", or empty when nothing tells. The
/// engines' step markers tell more than their kernels, which they take from
/// one another.
std::string FrameworkHint(const Trace& trace);

}  // namespace inferdiff
