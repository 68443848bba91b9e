// SPDX-License-Identifier: Apache-2.0
// What one rank must read of its memory in a step, whatever kernels it runs:
// every weight once, and the cache of all sequences once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rational.h"
#include "compare/model_config.h"

namespace inferdiff {

/// A step, as far as bytes depend on it. Absent: unknown.
struct StepWork {
  std::optional<int64_t> batch;    // sequences
  std::optional<int64_t> tokens;   // new ones, all sequences together
  std::optional<int64_t> context;  // in the cache, all sequences together
  int64_t tensor_parallel = 1;
  std::string cache_dtype;  // of the set-up; empty: the model's
};

struct ByteFloor {
  std::array<int64_t, static_cast<size_t>(ByteUse::kCount)> bytes{};
  int64_t weights = 0, cache = 0;
  /// Distinct experts that a layer reads, expected, to the millionth.
  std::optional<Rational> distinct_experts;
  std::string cache_dtype;
  /// Sentences without a period: what was taken for granted or left out.
  std::vector<std::string> assumptions;
  /// Why nothing can be said; empty where it can.
  std::string not_known;

  int64_t total() const { return weights + cache; }
};

/// Throws InputError "bad-config" for a model of 2^60 bytes or more.
ByteFloor CountBytes(const ModelConfig& model, const StepWork& work);

/// The distinct ones of `experts` that `tokens` tokens ask for, `per_token`
/// each, where all are asked for equally often:
///   experts (1 - (1 - per_token / experts)^tokens)
/// A token asks for each once at most. To the millionth, on every machine.
Rational DistinctExperts(int64_t experts, int64_t per_token, int64_t tokens);

}  // namespace inferdiff
