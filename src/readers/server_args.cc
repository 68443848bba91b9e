// SPDX-License-Identifier: Apache-2.0
#include "readers/server_args.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

namespace inferdiff {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

// A few kB in practice; a file that large is something else.
constexpr size_t kMaxBytes = 8 << 20;
constexpr size_t kMaxValueBytes = 200;

// Key of the file -> field of the set-up table, printed as it is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPlain =
    {{{"version", "framework version"},
      {"tp_size", "tensor parallel"},
      {"ep_size", "expert parallel"},
      {"dp_size", "data parallel"},
      {"pp_size", "pipeline parallel"},
      {"dtype", "dtype"},
      {"quantization", "quantization"},
      {"kv_cache_dtype", "KV cache dtype"},
      {"moe_runner_backend", "MoE backend"}}};

/// Strings, whole numbers and booleans as text; anything else is unknown.
std::string ScalarText(simdjson::ondemand::value value) {
  simdjson::ondemand::json_type type{};
  if (value.type().get(type)) return {};
  if (type == simdjson::ondemand::json_type::string) {
    std::string_view text;
    if (value.get_string().get(text) || text.size() > kMaxValueBytes) return {};
    return std::string(text);
  }
  if (type == simdjson::ondemand::json_type::number) {
    simdjson::ondemand::number number;
    if (value.get_number().get(number)) return {};
    if (number.is_int64()) return fmt::format("{}", number.get_int64());
    constexpr double kMost = 1e15;  // whole numbers below are exact
    const double real = number.is_double() ? number.get_double() : 2 * kMost;
    if (std::abs(real) > kMost || real != std::trunc(real)) return {};
    return fmt::format("{}", static_cast<int64_t>(real));
  }
  if (type == simdjson::ondemand::json_type::boolean) {
    bool flag = false;
    if (value.get_bool().get(flag)) return {};
    return flag ? "true" : "false";
  }
  return {};
}

/// At most one byte more than kMaxBytes; nothing where it cannot be read.
std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

/// "/data/DeepSeek-R1/" -> "DeepSeek-R1"; a path of the Hugging Face cache,
/// ".../models--deepseek-ai--DeepSeek-R1/snapshots/<hash>", likewise.
std::string ModelName(std::string_view path) {
  constexpr std::string_view kCache = "models--";
  if (const size_t at = path.rfind(kCache); at != path.npos) {
    std::string_view name = path.substr(at + kCache.size());
    name = name.substr(0, name.find('/'));
    const size_t owner = name.rfind("--");
    return std::string(owner == name.npos ? name : name.substr(owner + 2));
  }
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

bool Chosen(const std::string& value) {
  return !value.empty() && value != "auto";
}

class FactList {
 public:
  explicit FactList(std::map<std::string, std::string> values)
      : values_(std::move(values)) {}

  std::string Value(std::string_view key) const {
    const auto found = values_.find(std::string(key));
    return found != values_.end() && Chosen(found->second) ? found->second
                                                           : std::string();
  }
  void Add(std::string_view field, std::string value) {
    if (!value.empty())
      facts_.emplace_back(std::string(field), std::move(value));
  }
  Facts Take() { return std::move(facts_); }

 private:
  std::map<std::string, std::string> values_;
  Facts facts_;
};

/// "EAGLE, 3 steps, top 1, 4 draft tokens"; "none" only where the file names
/// the setting and leaves it empty.
std::string Speculation(const FactList& list, bool named) {
  std::string text = list.Value("speculative_algorithm");
  if (text.empty()) return named ? "none" : "";
  const auto add = [&](std::string_view key, std::string_view format) {
    const std::string value = list.Value(key);
    if (!value.empty()) text += fmt::format(fmt::runtime(format), value);
  };
  add("speculative_num_steps", ", {} steps");
  add("speculative_eagle_topk", ", top {}");
  add("speculative_num_draft_tokens", ", {} draft tokens");
  return text;
}

std::string Attention(const FactList& list) {
  const std::string both = list.Value("attention_backend");
  const std::string prefill = list.Value("prefill_attention_backend");
  const std::string decode = list.Value("decode_attention_backend");
  if (prefill.empty() && decode.empty()) return both;
  return fmt::format("prefill {}, decode {}",
                     prefill.empty() ? (both.empty() ? "?" : both) : prefill,
                     decode.empty() ? (both.empty() ? "?" : both) : decode);
}

std::string Graphs(const FactList& list) {
  const std::string disabled = list.Value("disable_cuda_graph");
  if (disabled.empty()) return {};
  return disabled == "true" ? "disabled" : "enabled";
}

Facts ToFacts(std::map<std::string, std::string> values) {
  const bool speculation_named = values.count("speculative_algorithm") > 0;
  const bool is_server_args = values.count("model_path") > 0;
  FactList list(std::move(values));
  if (!is_server_args) return {};
  list.Add("model", ModelName(list.Value("model_path")));
  list.Add("framework", "SGLang");
  for (const auto& [key, field] : kPlain) list.Add(field, list.Value(key));
  list.Add("speculative decoding", Speculation(list, speculation_named));
  list.Add("CUDA graphs", Graphs(list));
  list.Add("attention backend", Attention(list));
  return list.Take();
}

}  // namespace

ServerFacts ParseServerArgs(const std::string& text) {
  ServerFacts result;
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (!simdjson::validate_utf8(text)) {
    result.problem = "is not UTF-8 text";
    return result;
  }
  if (parser.iterate(padded).get(document) ||
      document.get_object().get(object)) {
    result.problem = "is not a JSON object";
    return result;
  }
  // Values that are not taken are skipped unread: Python writes NaN and
  // Infinity, which no JSON reader accepts.
  std::map<std::string, std::string> values;
  for (auto field : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    if (field.unescaped_key().get(key) || field.value().get(value)) {
      result.problem = "ends in the middle or is damaged";
      break;
    }
    std::string name(key);  // the view ends with the next string
    values.insert_or_assign(std::move(name), ScalarText(value));
  }
  result.facts = ToFacts(std::move(values));
  if (result.facts.empty() && result.problem.empty())
    result.problem = "has no model_path: it is no server_args.json of SGLang";
  return result;
}

ServerFacts ReadServerArgsBeside(const std::string& trace_path) {
  const size_t slash = trace_path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "" : trace_path.substr(0, slash + 1);
  const std::string path = folder + "server_args.json";
  std::error_code error;
  const auto entry = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(entry)) return {};
  ServerFacts result;
  // Opening a pipe would wait for its writer.
  const bool is_file = std::filesystem::is_regular_file(path, error);
  const std::optional<std::string> text =
      is_file ? ReadFile(path) : std::nullopt;
  if (!text) {
    result.problem = is_file ? "cannot be read" : "is not a file";
  } else if (text->size() > kMaxBytes) {
    result.problem = "is longer than 8 MiB";
  } else {
    result = ParseServerArgs(*text);
  }
  if (!result.problem.empty()) result.problem = path + " " + result.problem;
  return result;
}

}  // namespace inferdiff
