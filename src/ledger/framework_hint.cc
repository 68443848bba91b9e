// SPDX-License-Identifier: Apache-2.0
#include "ledger/framework_hint.h"

#include <optional>
#include <string_view>
#include <vector>

#include "steps/markers.h"

namespace inferdiff {
namespace {

/// The engine of the first rule, in the order of the rules, that any marker
/// matches: tools that wrap an engine's markers in their own come later.
std::string EngineOfMarkers(const Trace& trace) {
  const MarkerRules& rules = MarkerRules::Builtin();
  std::vector<bool> seen(trace.names->size());
  size_t best = rules.rules().size();
  for (const Annotation& annotation : trace.annotations) {
    if (seen[annotation.name]) continue;
    seen[annotation.name] = true;
    const auto match = rules.Match((*trace.names)[annotation.name]);
    if (match && !rules.rules()[match->rule].generic && match->rule < best)
      best = match->rule;
  }
  if (best == rules.rules().size()) return "";
  // The name of a family of markers begins with that of its engine.
  const std::string& family = rules.rules()[best].family;
  return family.substr(0, family.find(' '));
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
              text.find("sgl_kernel::") != text.npos;
  }
  // SGLang also runs kernels of vLLM, but not the other way round.
  return sglang ? "SGLang" : vllm ? "vLLM" : "";
}

}  // namespace

std::string FrameworkHint(const Trace& trace) {
  const std::string engine = EngineOfMarkers(trace);
  return engine.empty() ? EngineOfKernels(trace) : engine;
}

}  // namespace inferdiff
