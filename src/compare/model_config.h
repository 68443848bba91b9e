// SPDX-License-Identifier: Apache-2.0
// A model's config.json in the Hugging Face form -> what a step must read.
// docs/model.md lists the forms and fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weight_formats.h"

namespace inferdiff {

// What is read, roughly in order of a layer. X(constant, id).
#define INFERDIFF_BYTE_USES(X)              \
  X(kQkvProj, "q, k and v projections")     \
  X(kQAProj, "q_a projection")              \
  X(kKvAProj, "kv_a projection")            \
  X(kQBProj, "q_b projection")              \
  X(kKvBProj, "kv_b projection")            \
  X(kCompressor, "compressors")             \
  X(kIndexer, "indexer")                    \
  X(kIndexCache, "indexer's cache")         \
  X(kKvCache, "KV cache")                   \
  X(kOProj, "o projection")                 \
  X(kMhc, "hyper-connections")              \
  X(kGateUpProj, "gate and up projections") \
  X(kDownProj, "down projection")           \
  X(kRouter, "router")                      \
  X(kExpertGateUp, "experts' gate and up")  \
  X(kExpertDown, "experts' down")           \
  X(kSharedExpert, "shared expert")         \
  X(kLmHead, "head")

enum class ByteUse : uint8_t {
#define X(constant, name) constant,
  INFERDIFF_BYTE_USES(X)
#undef X
      kCount
};
std::string_view NameOf(ByteUse use);  // "q_b projection"

/// How tensor parallelism deals a matrix out.
enum class ShardBy : uint8_t { kWhole, kOut, kIn };

/// Equal matrices, `count` of them, all read every step; those of routed
/// experts as often as a token asks for them.
struct WeightMatrix {
  ByteUse use = ByteUse::kQkvProj;
  int64_t out = 0, in = 0;  // y = W x has `out` rows
  ShardBy split = ShardBy::kWhole;
  int64_t unit = 1;  // rows or columns that stay together: those of a head
  int64_t count = 1;
  bool routed = false;
  NumberFormat format = {};
};

/// What attention reads of one layer's cache for a token in it.
///
///   tokens read a sequence = min(most, context / stride)
struct LayerCache {
  ByteUse use = ByteUse::kKvCache;
  int64_t heads = 1;    // dealt out by tensor parallelism; 1 stays whole
  int64_t numbers = 0;  // a head and token, in the cache's format
  /// A layout of its own: bytes a token where the cache is fp8, or always.
  int64_t fp8_bytes = 0, fixed_bytes = 0;
  int64_t stride = 1;  // tokens that were compressed into one
  int64_t most = 0;    // 0: all
  int64_t layers = 1;
};

/// Routed experts a layer.
struct Experts {
  int64_t count = 0;      // 0: a dense model
  int64_t per_token = 0;  // <= count
  int64_t layers = 0;     // that have them
};

struct ModelConfig {
  std::string type;  // model_type, such as "deepseek_v3"
  int64_t layers = 0;
  int64_t draft_layers = 0;  // that the config names beside them
  Experts experts;
  std::string plain_dtype;  // "bf16"
  bool quantized = false;   // as its quantization_config has it
  /// What the checkpoint asks for; else empty, and engines take plain_dtype.
  std::string cache_dtype;
  std::vector<WeightMatrix> matrices;
  std::vector<LayerCache> caches;
  /// Sentences without a period: what was taken for granted.
  std::vector<std::string> assumptions;
};

/// Throws InputError "bad-config" with the field for what is missing, damaged
/// or not understood: a guess would print wrong bytes.
ModelConfig ParseModelConfig(std::string_view text, const std::string& path);

}  // namespace inferdiff
