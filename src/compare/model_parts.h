// SPDX-License-Identifier: Apache-2.0
// The matrices and caches of a model, part by part, from the config's fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/config_fields.h"
#include "compare/model_config.h"
#include "compare/weight_formats.h"

namespace inferdiff {

inline constexpr WholeRange kLayerRange{1, 1000};

/// Equal matrices and caches of several layers are one entry.
class ModelBuilder {
 public:
  ModelBuilder(const ConfigFields& fields, const WeightFormats& formats,
               ModelConfig* model);

  void AddAttention();
  void AddFeedForward();
  void AddHead();

 private:
  // Attention, one of three builds.
  void AddHeads();       // q, k and v of each head in the cache
  void AddLatent();      // a latent in the cache
  void AddCompressed();  // DeepSeek V4: one head, old tokens compressed
  void AddIndexer(int64_t layer, int64_t q_lora_rank, int64_t stride);
  int64_t WindowOf(int64_t layer, const std::vector<std::string>& types) const;

  // Feed-forward.
  void AddDense(int64_t layer, int64_t intermediate);
  void AddExperts(int64_t layer);
  std::vector<bool> ExpertLayers() const;

  /// `names` are those of the weight's module below model.layers.N.
  void Add(WeightMatrix matrix, int64_t layer,
           std::initializer_list<const char*> names);
  void Add(WeightMatrix matrix);
  void Add(LayerCache cache);

  const ConfigFields& fields_;
  const WeightFormats& formats_;
  ModelConfig* model_;
  int64_t hidden_;
};

}  // namespace inferdiff
