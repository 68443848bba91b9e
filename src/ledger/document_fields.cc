// SPDX-License-Identifier: Apache-2.0
#include "ledger/document_fields.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace inferdiff {

InputError BadDocument(const std::string& path, const std::string& what) {
  return InputError("bad-ledger-json", path, what,
                    "write it anew with `inferdiff ledger --format json`, or "
                    "name the trace");
}

void FailDocument(const std::string& what) { throw BadDocument("", what); }

const DocumentJson& Field(const DocumentJson& object, const char* name) {
  if (object.is_object()) {
    const auto found = object.find(name);
    if (found != object.end()) return *found;
  }
  FailDocument(fmt::format("there is no field '{}'", name));
}

const DocumentJson& List(const DocumentJson& object, const char* name) {
  const DocumentJson& list = Field(object, name);
  if (!list.is_array()) FailDocument(fmt::format("'{}' is no list", name));
  return list;
}

std::optional<int64_t> OptionalInt(const DocumentJson& object,
                                   const char* name) {
  const DocumentJson& value = Field(object, name);
  if (value.is_null()) return std::nullopt;
  int64_t number = 0;
  bool good = false;
  if (value.is_number_unsigned()) {
    good = value.get<uint64_t>() <= INT64_MAX;
    number = static_cast<int64_t>(value.get<uint64_t>());
  } else if (value.is_number_integer()) {
    good = true;
    number = value.get<int64_t>();
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    good = error == std::errc() && end == last;
  }
  if (!good) FailDocument(fmt::format("'{}' is no whole number", name));
  return number;
}

int64_t Int(const DocumentJson& object, const char* name) {
  const auto value = OptionalInt(object, name);
  if (!value) FailDocument(fmt::format("'{}' is null", name));
  return *value;
}

int64_t Amount(const DocumentJson& object, const char* name) {
  const int64_t value = Int(object, name);
  if (value < 0) FailDocument(fmt::format("'{}' is below zero", name));
  return value;
}

std::string Text(const DocumentJson& object, const char* name) {
  const DocumentJson& value = Field(object, name);
  if (value.is_null()) return {};
  if (!value.is_string()) FailDocument(fmt::format("'{}' is no text", name));
  return value.get<std::string>();
}

bool Bool(const DocumentJson& object, const char* name) {
  const DocumentJson& value = Field(object, name);
  if (!value.is_boolean())
    FailDocument(fmt::format("'{}' is no truth value", name));
  return value.get<bool>();
}

}  // namespace inferdiff
