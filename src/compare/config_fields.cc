// SPDX-License-Identifier: Apache-2.0
#include "compare/config_fields.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace inferdiff {

using Json = nlohmann::json;

struct ConfigFields::File {
  std::string path, what;
  Json json;
};

namespace {

// Nothing real is nested deeper; what is would cost stack.
constexpr int kMaxDepth = 32;
constexpr size_t kMaxItems = 65536;

bool IsWhole(const Json& value, int64_t* out) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > INT64_MAX) return false;
    *out = static_cast<int64_t>(number);
    return true;
  }
  if (value.is_number_integer()) {
    *out = value.get<int64_t>();
    return true;
  }
  // Some tools write 128.0.
  if (!value.is_number_float()) return false;
  const auto real = value.get<double>();
  if (!(std::abs(real) < 1e15) || real != std::trunc(real)) return false;
  *out = static_cast<int64_t>(real);
  return true;
}

}  // namespace

ConfigFields::ConfigFields(std::shared_ptr<const File> file, const Json* object,
                           std::string name)
    : file_(std::move(file)), object_(object), name_(std::move(name)) {}

ConfigFields ConfigFields::Parse(std::string_view text, const std::string& path,
                                 const std::string& what) {
  auto file = std::make_shared<File>();
  file->path = path;
  file->what = what;
  const auto fail = [&](const char* why) {
    throw InputError("bad-config", path, fmt::format("{}: {}", what, why),
                     "name the JSON file itself, unchanged");
  };
  if (text.size() > kMaxConfigBytes) fail("longer than 8 MiB");
  bool too_deep = false;
  file->json = Json::parse(
      text.begin(), text.end(),
      [&](int depth, Json::parse_event_t, const Json&) {
        too_deep = too_deep || depth > kMaxDepth;
        return !too_deep;
      },
      false);
  if (too_deep) fail("nested more than 32 deep");
  if (file->json.is_discarded()) fail("no valid JSON");
  if (!file->json.is_object()) fail("no JSON object");
  const Json* root = &file->json;
  return {std::move(file), root, ""};
}

void ConfigFields::Fail(const std::string& what_is_wrong) const {
  throw InputError("bad-config", file_->path,
                   fmt::format("{}: {}", file_->what, what_is_wrong),
                   "docs/model.md and docs/format-probe.md list what is read");
}

void ConfigFields::FailField(std::string_view key,
                             const std::string& what) const {
  Fail(fmt::format("{}{}{} {}", Printable(name_), name_.empty() ? "" : ".",
                   Printable(key), what));
}

const Json* ConfigFields::Find(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigFields::Has(std::string_view key) const {
  return Find(key) != nullptr;
}

std::optional<int64_t> ConfigFields::Whole(std::string_view key,
                                           WholeRange range) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  int64_t number = 0;
  if (!IsWhole(*value, &number) || number < range.least ||
      number > range.most) {
    FailField(key, fmt::format("is no whole number from {} to {}", range.least,
                               range.most));
  }
  return number;
}

int64_t ConfigFields::NeededWhole(std::string_view key,
                                  WholeRange range) const {
  const auto number = Whole(key, range);
  if (!number) FailField(key, "is missing");
  return *number;
}

std::optional<int64_t> ConfigFields::WholeOf(
    std::initializer_list<std::string_view> keys, WholeRange range) const {
  for (const std::string_view key : keys)
    if (const auto number = Whole(key, range)) return number;
  return std::nullopt;
}

std::optional<int64_t> ConfigFields::Scaled(std::string_view key,
                                            int64_t scale) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) FailField(key, "is no number");
  const double number = value->get<double>() * static_cast<double>(scale);
  constexpr double kMost = 1e18;
  if (!(number >= 0 && number < kMost)) FailField(key, "is out of range");
  return static_cast<int64_t>(std::llround(number));
}

std::optional<bool> ConfigFields::Truth(std::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) FailField(key, "is neither true nor false");
  return value->get<bool>();
}

std::string ConfigFields::Text(std::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return {};
  if (!value->is_string()) FailField(key, "is no text");
  return value->get<std::string>();
}

std::string ConfigFields::NeededText(std::string_view key) const {
  std::string text = Text(key);
  if (text.empty()) FailField(key, "is missing");
  return text;
}

std::vector<std::string> ConfigFields::Texts(std::string_view key) const {
  const Json* value = Find(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array() || value->size() > kMaxItems)
    FailField(key, "is no list of texts");
  for (const Json& item : *value) {
    if (!item.is_string()) FailField(key, "is no list of texts");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<int64_t> ConfigFields::Wholes(std::string_view key,
                                          WholeRange range) const {
  const Json* value = Find(key);
  std::vector<int64_t> numbers;
  if (value == nullptr) return numbers;
  const std::string wrong = fmt::format(
      "is no list of whole numbers from {} to {}", range.least, range.most);
  if (!value->is_array() || value->size() > kMaxItems) FailField(key, wrong);
  for (const Json& item : *value) {
    int64_t number = 0;
    if (!IsWhole(item, &number) || number < range.least || number > range.most)
      FailField(key, wrong);
    numbers.push_back(number);
  }
  return numbers;
}

bool ConfigFields::IsArray(std::string_view key) const {
  const Json* value = Find(key);
  return value != nullptr && value->is_array();
}

std::optional<ConfigFields> ConfigFields::Object(std::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) FailField(key, "is no object");
  return ConfigFields(file_, value, std::string(key));
}

std::vector<ConfigFields> ConfigFields::Objects(std::string_view key) const {
  const Json* value = Find(key);
  std::vector<ConfigFields> objects;
  if (value == nullptr) return objects;
  if (!value->is_structured() || value->size() > kMaxItems)
    FailField(key, "holds no objects");
  for (const auto& [name, item] : value->items()) {
    if (!item.is_object()) FailField(key, "holds what is no object");
    objects.push_back(ConfigFields(
        file_, &item,
        value->is_array() ? fmt::format("{}.{}", key, name) : name));
  }
  return objects;
}

void ConfigFields::EachKey(
    const std::function<void(const std::string&, bool)>& visit) const {
  for (const auto& [key, value] : object_->items()) {
    int64_t number = 0;
    const bool says_something =
        value.is_structured()
            ? !value.empty()
            : value.is_number() && IsWhole(value, &number) && number > 0;
    visit(key, says_something);
  }
}

}  // namespace inferdiff
