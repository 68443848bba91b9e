// SPDX-License-Identifier: Apache-2.0
// Which serving engine made a trace.
#pragma once

#include <string>

#include "model/trace.h"

namespace inferdiff {

/// "SGLang", "vLLM", "TRT-LLM", "ATOM", or empty when nothing tells. Markers
/// tell more than kernels, which engines take from one another.
std::string FrameworkHint(const Trace& trace);

}  // namespace inferdiff
