// SPDX-License-Identifier: Apache-2.0
// server_args.json, which SGLang's profiler writes beside its traces: how the
// server was started, what no trace says.
//
//   {"model_path": "/models/DeepSeek-R1", "tp_size": 8, "ep_size": 1,
//    "quantization": "fp8", "kv_cache_dtype": "auto", "version": "0.5.8",
//    "speculative_algorithm": "EAGLE", ..., "internal_states": [...]}
//
// Only the fields of a comparison's set-up table are taken: the file also
// holds keys and host names. null and "auto" mean that the engine chose, so
// the fact stays unknown.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace inferdiff {

struct ServerFacts {
  /// Field of the set-up table -> value.
  std::vector<std::pair<std::string, std::string>> facts;
  /// Why an existing file gave nothing; empty if it did or there is none.
  std::string problem;
};

/// Looks in the trace's directory. A file that cannot be used is a problem to
/// print, not an error: the traces are what is compared.
ServerFacts ReadServerArgsBeside(const std::string& trace_path);

/// For tests: the text of such a file.
ServerFacts ParseServerArgs(const std::string& text);

}  // namespace inferdiff
