// SPDX-License-Identifier: Apache-2.0
#include "ledger/framework_hint.h"

#include <string_view>
#include <vector>

namespace inferdiff {
namespace {

struct Evidence {
  std::string_view head;  // what the name starts with
  std::string_view framework;
};

// In order of strength: a capture tool may wrap its own markers around an
// engine's ("execute_16_context_..." around "step[DECODE ...").
constexpr Evidence kMarkers[] = {
    {"step[", "SGLang"},
    {"scheduler.", "SGLang"},
    {"[Executor] _forward_step", "TRT-LLM"},
    {"decode[bs=", "ATOM"},
    {"prefill[bs=", "ATOM"},
    {"eager_decode[", "ATOM"},
    {"gpu_model_runner:", "vLLM"},
    {"execute_", "vLLM"},
};

constexpr Evidence kKernels[] = {
    {"vllm::", "vLLM"},
    {"sglang::", "SGLang"},
    {"sgl_kernel::", "SGLang"},
};

bool StartsWith(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head;
}

/// The strongest evidence among the names that are marked as used.
template <size_t n>
std::string Strongest(const Evidence (&evidence)[n], const StringPool& names,
                      const std::vector<bool>& used) {
  size_t best = n;
  for (NameId name = 0; name < names.size(); ++name) {
    if (!used[name]) continue;
    std::string_view text = names[name];
    if (StartsWith(text, "void ")) text.remove_prefix(5);
    for (size_t i = 0; i < best; ++i)
      if (StartsWith(text, evidence[i].head)) best = i;
  }
  return best == n ? "" : std::string(evidence[best].framework);
}

}  // namespace

std::string FrameworkHint(const Trace& trace) {
  const StringPool& names = *trace.names;
  std::vector<bool> markers(names.size());
  for (const Annotation& annotation : trace.annotations)
    markers[annotation.name] = true;
  std::string hint = Strongest(kMarkers, names, markers);
  if (!hint.empty()) return hint;
  std::vector<bool> kernels(names.size());
  for (const NameId name : trace.ops.name) kernels[name] = true;
  return Strongest(kKernels, names, kernels);
}

}  // namespace inferdiff
