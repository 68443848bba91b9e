// SPDX-License-Identifier: Apache-2.0
#include "compare/weight_formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/wide.h"
#include "compare/module_names.h"

namespace inferdiff {

class WeightFormats::Names : public ModuleNames {};

namespace {

constexpr WholeRange kBits{1, 32};
constexpr WholeRange kBlock{1, 1 << 20};

Wide Blocks(int64_t size, int64_t block) {
  return block == 0 ? 1 : (Wide{size} + block - 1) / block;
}

/// "int4 in groups of 128"
std::string NameOf(std::string_view type, int64_t bits, int64_t block_out,
                   int64_t block_in) {
  std::string name = fmt::format("{}{}", type, bits);
  if (block_out > 1 && block_in > 0)
    return name +
           fmt::format(" in blocks of {} \u00d7 {}", block_out, block_in);
  if (block_in > 0) name += fmt::format(" in groups of {}", block_in);
  return name;
}

NumberFormat Blocked(std::string_view type, int64_t bits, int64_t block_out,
                     int64_t block_in, int64_t scale_bits) {
  return {NameOf(type, bits, block_out, block_in), bits, block_out, block_in,
          scale_bits};
}

const NumberFormat kMxfp4{"mxfp4", 4, 1, 32, 8};
const NumberFormat kNvfp4{"nvfp4", 4, 1, 16, 8};

/// The "weights" of a compressed-tensors group. `group` names it in messages.
NumberFormat SchemeOf(const ConfigFields& weights) {
  const int64_t bits = weights.NeededWhole("num_bits", kBits);
  const std::string type = weights.Text("type");
  const bool is_float = type.empty() || type == "float";
  const std::string strategy = weights.Text("strategy");
  const int64_t scale_bits = is_float ? 32 : 16;
  const std::string_view prefix = is_float ? "fp" : "int";
  const std::vector<int64_t> block =
      weights.IsArray("block_structure")
          ? weights.Wholes("block_structure", kBlock)
          : std::vector<int64_t>();
  if (strategy == "block" && block.size() != 2)
    weights.Fail("weights.block_structure is no pair of numbers");
  if (strategy == "block")
    return Blocked(prefix, bits, block[0], block[1], scale_bits);
  const auto group = weights.Whole("group_size", {-1, 1 << 20}).value_or(-1);
  if (group > 0) {
    if (is_float && bits == 4)
      return group == 16
                 ? kNvfp4
                 : NumberFormat{group == 32 ? "mxfp4" : "fp4", 4, 1, group, 8};
    const bool symmetric = weights.Truth("symmetric").value_or(true);
    return Blocked(prefix, bits, 1, group, 16 + (symmetric ? 0 : bits));
  }
  // A scale a row, or one for all.
  if (strategy == "channel") return Blocked(prefix, bits, 1, 0, scale_bits);
  return Blocked(prefix, bits, 0, 0, 0);
}

/// The "weight" of a Quark configuration.
NumberFormat QuarkScheme(const ConfigFields& weight) {
  const std::string dtype = weight.NeededText("dtype");
  const int64_t group = weight.Whole("group_size", {-1, 1 << 20}).value_or(-1);
  const bool rows = weight.Text("qscheme") == "per_channel";
  const auto starts = [&](std::string_view with) {
    return dtype.starts_with(with);
  };
  if (starts("fp4")) return {"mxfp4", 4, 1, group > 0 ? group : 32, 8};
  if (starts("fp6")) return {"mxfp6", 6, 1, group > 0 ? group : 32, 8};
  if (starts("fp8") || starts("int8")) {
    const std::string_view type = starts("fp8") ? "fp" : "int";
    if (group > 0) return Blocked(type, 8, 1, group, 32);
    return Blocked(type, 8, rows ? 1 : 0, 0, rows ? 32 : 0);
  }
  if (starts("int4") || starts("uint4"))
    return Blocked("int", 4, 1, std::max<int64_t>(group, 0), 16);
  weight.Fail(fmt::format("weight.dtype '{}' is not known", Printable(dtype)));
}

}  // namespace

int64_t BytesOf(const NumberFormat& format, int64_t out, int64_t in) {
  const Wide numbers = (Wide{out} * in * format.bits + 7) / 8;
  const Wide scales =
      format.scale_bits == 0
          ? 0
          : (Blocks(out, format.block_out) * Blocks(in, format.block_in) *
                 format.scale_bits +
             7) /
                8;
  return static_cast<int64_t>(numbers + scales);
}

std::optional<NumberFormat> PlainFormat(std::string_view dtype) {
  constexpr std::string_view kTorch = "torch.";
  if (dtype.starts_with(kTorch)) dtype.remove_prefix(kTorch.size());
  if (dtype == "bfloat16" || dtype == "bf16") return NumberFormat{"bf16", 16};
  if (dtype == "float16" || dtype == "fp16" || dtype == "half")
    return NumberFormat{"fp16", 16};
  if (dtype == "float32" || dtype == "float") return NumberFormat{"fp32", 32};
  return std::nullopt;
}

WeightFormats::WeightFormats(WeightFormats&&) noexcept = default;
WeightFormats::~WeightFormats() = default;

WeightFormats::WeightFormats(NumberFormat plain,
                             const std::optional<ConfigFields>& config)
    : plain_(std::move(plain)) {
  if (!config) return;
  const std::string method = Lower(config->NeededText("quant_method"));
  if (config->Object("sparsity_config") &&
      config->Object("sparsity_config")->Text("format") != "dense" &&
      config->Object("sparsity_config")->Has("format"))
    config->Fail("weights with zeros left out are not known");
  if (method == "fp8")
    ReadFp8(*config);
  else if (method == "fbgemm_fp8")
    schemes_.push_back({Blocked("fp", 8, 1, 0, 32), nullptr});
  else if (method == "mxfp4")
    schemes_.push_back({kMxfp4, nullptr});
  else if (method == "awq" || method == "gptq")
    ReadGroupwise(*config, method == "awq"
                               ? config->Truth("zero_point").value_or(true)
                               : !config->Truth("sym").value_or(true));
  else if (method == "compressed-tensors")
    ReadGroups(*config);
  else if (method == "modelopt" || method == "modelopt_fp4")
    ReadModelOpt(*config);
  else if (method == "quark")
    ReadQuark(*config);
  else
    config->Fail(
        fmt::format("quantization_config.quant_method '{}' is not "
                    "known",
                    Printable(method)));
  ReadCacheDtype(*config);
  kept_ = std::make_unique<Names>();
  for (const char* key : {"modules_to_not_convert", "ignored_layers", "ignore",
                          "exclude_modules", "exclude"})
    for (const std::string& entry : config->Texts(key))
      if (!kept_->Add(entry))
        config->Fail(fmt::format("'{}' is no pattern", Printable(entry)));
  if (!kept_->Prepare()) config->Fail("too many patterns of modules");
}

void WeightFormats::ReadFp8(const ConfigFields& config) {
  const std::vector<int64_t> block = config.Wholes("weight_block_size", kBlock);
  if (!block.empty() && block.size() != 2)
    config.Fail("weight_block_size is no pair of numbers");
  schemes_.push_back({block.empty() ? Blocked("fp", 8, 0, 0, 0)
                                    : Blocked("fp", 8, block[0], block[1], 32),
                      nullptr});
}

void WeightFormats::ReadGroupwise(const ConfigFields& config,
                                  bool has_zero_points) {
  const auto bits = config.WholeOf({"bits", "w_bit"}, kBits);
  const auto group =
      config.WholeOf({"group_size", "q_group_size"}, {-1, 1 << 20});
  if (!bits || !group) config.Fail("bits or group_size is missing");
  if (config.Object("dynamic"))
    config.Fail("weights quantized each in its own way are not known");
  head_too_ = config.Truth("lm_head").value_or(false);
  schemes_.push_back({Blocked("int", *bits, 1, std::max<int64_t>(*group, 0),
                              16 + (has_zero_points ? *bits : 0)),
                      nullptr});
}

void WeightFormats::ReadGroups(const ConfigFields& config) {
  const std::vector<ConfigFields> groups = config.Objects("config_groups");
  if (groups.empty()) config.Fail("config_groups is missing");
  head_too_ = true;
  std::vector<Scheme> everywhere;
  for (const ConfigFields& group : groups) {
    const auto weights = group.Object("weights");
    if (!weights) continue;  // activations only
    Scheme scheme{SchemeOf(*weights), std::make_unique<Names>()};
    bool all = !group.Has("targets");
    for (const std::string& target : group.Texts("targets")) {
      if (target == "Linear")
        all = true;
      else if (!scheme.names->Add(target))
        config.Fail(fmt::format("'{}' is no pattern", Printable(target)));
    }
    if (!scheme.names->Prepare()) config.Fail("too many patterns of modules");
    if (all) everywhere.push_back({scheme.format, nullptr});
    if (!scheme.names->empty()) schemes_.push_back(std::move(scheme));
  }
  for (Scheme& scheme : everywhere) schemes_.push_back(std::move(scheme));
}

void WeightFormats::ReadModelOpt(const ConfigFields& config) {
  if (config.Has("config_groups")) return ReadGroups(config);
  const std::string algo = config.NeededText("quant_algo");
  NumberFormat format;
  if (algo == "FP8")
    format = Blocked("fp", 8, 0, 0, 0);
  else if (algo == "FP8_PB_WO" || algo == "FP8_PB_REAL")
    format = Blocked("fp", 8, 128, 128, 32);
  else if (algo == "FP8_PER_CHANNEL_PER_TOKEN")
    format = Blocked("fp", 8, 1, 0, 32);
  else if (algo == "NVFP4" || algo == "W4A16_NVFP4" || algo == "NVFP4_AWQ")
    format = kNvfp4;
  else
    config.Fail(fmt::format("quant_algo '{}' is not known", Printable(algo)));
  head_too_ = true;
  schemes_.push_back({format, nullptr});
}

void WeightFormats::ReadQuark(const ConfigFields& config) {
  head_too_ = true;
  for (const ConfigFields& layer : config.Objects("layer_quant_config")) {
    const auto weight = layer.Object("weight");
    if (!weight) config.Fail("a layer_quant_config has no weight");
    Scheme scheme{QuarkScheme(*weight), std::make_unique<Names>()};
    if (!scheme.names->Add(layer.name()) || !scheme.names->Prepare())
      config.Fail(fmt::format("'{}' is no pattern", Printable(layer.name())));
    schemes_.push_back(std::move(scheme));
  }
  const auto global = config.Object("global_quant_config");
  if (!global) config.Fail("global_quant_config is missing");
  if (const auto weight = global->Object("weight"))
    schemes_.push_back({QuarkScheme(*weight), nullptr});
}

void WeightFormats::ReadCacheDtype(const ConfigFields& config) {
  cache_dtype_ = Lower(config.Text("kv_cache_quant_algo"));
  if (!cache_dtype_.empty()) return;
  const auto scheme = config.Object("kv_cache_scheme");
  if (!scheme) return;
  const int64_t bits = scheme->NeededWhole("num_bits", kBits);
  const bool is_int = scheme->Text("type") == "int";
  cache_dtype_ = fmt::format("{}{}", is_int ? "int" : "fp", bits);
}

const NumberFormat& WeightFormats::Of(
    const std::vector<std::string>& modules) const {
  const auto named = [&](const Names& names) {
    return std::any_of(
        modules.begin(), modules.end(),
        [&](const std::string& module) { return names.Has(module); });
  };
  if (kept_ != nullptr && named(*kept_)) return plain_;
  for (const Scheme& scheme : schemes_)
    if (scheme.names == nullptr || named(*scheme.names)) return scheme.format;
  return plain_;
}

const NumberFormat& WeightFormats::OfHead() const {
  return head_too_ ? Of({"lm_head"}) : plain_;
}

}  // namespace inferdiff
