// SPDX-License-Identifier: Apache-2.0
#include "ledger/framework_hint.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "steps/markers.h"

namespace inferdiff {
namespace {

/// Whose form the first rule is, in the order of the rules, that any marker
/// matches: tools that wrap an engine's markers in their own come later.
std::string EngineOfMarkers(const Trace& trace) {
  const MarkerRules& rules = MarkerRules::Builtin();
  std::vector<bool> seen(trace.names->size());
  size_t best = rules.rules().size();
  for (const Annotation& annotation : trace.annotations) {
    if (seen[annotation.name]) continue;
    seen[annotation.name] = true;
    const auto match = rules.Match((*trace.names)[annotation.name]);
    if (match && !rules.rules()[match->rule].engine.empty())
      best = std::min<size_t>(best, match->rule);
  }
  return best == rules.rules().size() ? "" : rules.rules()[best].engine;
}

/// The engine whose own namespace a kernel is in.
std::string EngineOfKernels(const Trace& trace) {
  std::vector<bool> seen(trace.names->size());
  bool vllm = false;
  bool sglang = false;
  for (const NameId name : trace.ops.name) {
    if (seen[name]) continue;
    seen[name] = true;
    const std::string_view text = (*trace.names)[name];
    vllm |= text.find("vllm::") != text.npos;
    sglang |= text.find("sglang::") != text.npos ||
              text.find("sgl_kernel::") != text.npos ||
              text.find("sgl_hip::") != text.npos;
  }
  // SGLang also runs kernels of vLLM, but not the other way round.
  return sglang ? "SGLang" : vllm ? "vLLM" : "";
}

}  // namespace

FrameworkHint HintOf(const Trace& trace) {
  std::string by_markers = EngineOfMarkers(trace);
  std::string by_kernels = EngineOfKernels(trace);
  const bool may_borrow = by_kernels == "vLLM" && by_markers == "SGLang";
  if (!by_kernels.empty() && !may_borrow)
    return {std::move(by_kernels), HintBasis::kKernels};
  if (by_markers.empty()) return {};
  return {std::move(by_markers), HintBasis::kMarkerForm};
}

}  // namespace inferdiff
