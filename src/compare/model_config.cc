// SPDX-License-Identifier: Apache-2.0
#include "compare/model_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "compare/model_parts.h"

namespace inferdiff {
namespace {

template <size_t n>
bool IsOneOf(std::string_view word,
             const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Llama's build: gated MLP, no biases to speak of.
constexpr std::array<std::string_view, 31> kKnownTypes = {
    "llama",       "mistral",    "mixtral",     "qwen2",       "qwen2_moe",
    "qwen3",       "qwen3_moe",  "deepseek_v2", "deepseek_v3", "deepseek_v32",
    "deepseek_v4", "kimi_k2",    "gpt_oss",     "phi3",        "glm4",
    "glm4_moe",    "gemma",      "gemma2",      "gemma3",      "gemma3_text",
    "minimax_m2",  "olmo2",      "olmoe",       "internlm2",   "internlm3",
    "granite",     "granitemoe", "exaone",      "mistral3",    "qwen2_5_vl",
    "qwen3_vl"};

// What these compute cannot be told from the fields that are read.
constexpr std::array<std::string_view, 12> kOtherBuilds = {
    "gpt2",  "gpt_neox", "opt",        "bloom",    "falcon", "phi",
    "mamba", "mamba2",   "starcoder2", "nemotron", "llama4", "llama4_text"};

// With a whole number or a list above, these change the shapes.
constexpr std::array<std::string_view, 14> kKnownExpertFields = {
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "n_shared_experts",
    "num_shared_experts",
    "shared_expert_intermediate_size",
    "norm_expert_weight",
    "num_expert_group",
    "num_expert_groups",
    "n_expert_groups",
    "expert_capacity"};

constexpr std::array<std::string_view, 13> kForeignWords = {
    "expert",
    "mamba",
    "ssm_",
    "linear_",
    "full_attention_interval",
    "interleave_moe",
    "hybrid_override",
    "block_type",
    "engram_layer",
    "kv_source_layer",
    "kv_shared_layers",
    "per_layer_input",
    "attention_chunk"};

/// A field that names something these sums do not know is no field to skip.
void RefuseForeign(const ConfigFields& fields) {
  fields.EachKey([&](const std::string& key, bool says_something) {
    if (!says_something || IsOneOf(key, kKnownExpertFields)) return;
    for (const std::string_view word : kForeignWords)
      if (key.find(word) != std::string::npos)
        fields.Fail(
            fmt::format("the field {} is not understood", Printable(key)));
  });
  for (const int64_t full : fields.Wholes("attn_type_list", {0, 1}))
    if (full == 0) fields.Fail("attn_type_list: 0 is not understood");
}

/// The part of a multimodal model's config that is about text.
ConfigFields TextPart(const ConfigFields& root) {
  if (root.Has("hidden_size")) return root;
  for (const char* key : {"text_config", "language_config", "llm_config"})
    if (auto nested = root.Object(key)) return *nested;
  return root;
}

std::string DtypeOf(const ConfigFields& text, const ConfigFields& root) {
  for (const ConfigFields* fields : {&text, &root})
    for (const char* key : {"torch_dtype", "dtype"})
      if (std::string dtype = fields->Text(key); !dtype.empty()) return dtype;
  root.Fail("torch_dtype is missing");
}

void CheckType(const ConfigFields& fields, ModelConfig* model) {
  if (IsOneOf(model->type, kOtherBuilds))
    fields.Fail(fmt::format("model_type '{}' is not known", model->type));
  if (IsOneOf(model->type, kKnownTypes)) return;
  model->assumptions.push_back(
      model->type.empty()
          ? "the config names no model_type: it is read as Llama's build"
          : fmt::format("model_type {} is not known: it is read as Llama's "
                        "build",
                        Quoted(model->type)));
}

}  // namespace

std::string_view NameOf(ByteUse use) {
  constexpr std::string_view kNames[] = {
#define X(constant, name) name,
      INFERDIFF_BYTE_USES(X)
#undef X
  };
  return kNames[static_cast<size_t>(use)];
}

ModelConfig ParseModelConfig(std::string_view text, const std::string& path) {
  const ConfigFields root =
      ConfigFields::Parse(text, path, "a model's config.json");
  const ConfigFields fields = TextPart(root);
  const std::string dtype = DtypeOf(fields, root);
  const auto plain = PlainFormat(dtype);
  if (!plain)
    root.Fail(fmt::format("torch_dtype '{}' is not known", Printable(dtype)));
  auto quantization = root.Object("quantization_config");
  if (!quantization) quantization = fields.Object("quantization_config");
  const WeightFormats formats(*plain, quantization);

  ModelConfig model;
  model.type = fields.Text("model_type");
  if (model.type.empty()) model.type = root.Text("model_type");
  model.layers = fields.NeededWhole("num_hidden_layers", kLayerRange);
  model.draft_layers =
      fields.WholeOf({"num_nextn_predict_layers", "num_mtp_modules"}, {0, 1000})
          .value_or(0);
  model.plain_dtype = plain->name;
  model.quantized = quantization.has_value();
  model.cache_dtype = formats.cache_dtype();
  CheckType(fields, &model);
  RefuseForeign(fields);
  ModelBuilder builder(fields, formats, &model);
  builder.AddAttention();
  builder.AddFeedForward();
  builder.AddHead();
  return model;
}

}  // namespace inferdiff
