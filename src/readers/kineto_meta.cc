// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_meta.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "readers/kineto_event.h"

namespace inferdiff {
namespace {

using nlohmann::json;

/// Numbers may be written as strings.
std::optional<int64_t> IntegerOf(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_string())
    return ParseInteger(value.get_ref<const std::string&>());
  return std::nullopt;
}

std::optional<int64_t> MemberOf(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  return IntegerOf(*found);
}

std::vector<DeviceProperties> DevicesOf(const json& value) {
  std::vector<DeviceProperties> devices;
  if (!value.is_array()) return devices;
  for (const json& entry : value) {
    if (!entry.is_object()) continue;
    DeviceProperties device;
    device.id = MemberOf(entry, "id");
    device.sm_count = MemberOf(entry, "numSms");
    device.warp_size = MemberOf(entry, "warpSize");
    if (const auto name = entry.find("name");
        name != entry.end() && name->is_string()) {
      device.name = name->get<std::string>();
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

/// The JSON value that starts at text[at], by its brackets and quotes.
std::string_view ValueAt(std::string_view text, size_t at) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == '\n')) {
      return text.substr(at, i - at);
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) {
      return text.substr(at, i + 1 - at);
    }
  }
  return text.substr(at);
}

/// Where the value of the member begins whose key ends in front of text[at];
/// npos where no key does.
size_t MemberValueAt(std::string_view text, size_t at) {
  const size_t colon = text.find_first_not_of(" \n\r\t", at);
  if (colon == text.npos || text[colon] != ':') return text.npos;
  return text.find_first_not_of(" \n\r\t", colon + 1);
}

/// The least nested member of this name, of several the last: tools that wrap
/// a trace describe the machine in objects of their own, under the same keys.
/// The nesting is a guess behind a stray quote, the member is found all the
/// same.
std::optional<std::string_view> FindMember(std::string_view text,
                                           std::string_view key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  size_t found = text.npos;
  int64_t found_depth = 0;
  int64_t depth = 0;  // below 0 behind the events
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && in_string) {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
      if (text.compare(i, quoted.size(), quoted) != 0) continue;
      const size_t value = MemberValueAt(text, i + quoted.size());
      if (value == text.npos || (found != text.npos && depth > found_depth))
        continue;
      found = value;
      found_depth = depth;
    } else if (!in_string && (c == '{' || c == '[')) {
      ++depth;
    } else if (!in_string && (c == '}' || c == ']')) {
      --depth;
    }
  }
  // Nested members can be as many as the text has room for: only one is
  // followed to its end.
  if (found == text.npos) return std::nullopt;
  return ValueAt(text, found);
}

}  // namespace

void KinetoMetadata::Add(std::string_view text) {
  // A tool that asks for every version writes "N/A" for those that are not.
  const auto has = [&](const char* key) {
    const auto value = FindMember(text, key);
    return value && value->find_first_of("0123456789") != value->npos;
  };
  if (has("roctracer_version") || has("rocprofiler-sdk_version") ||
      has("hip_runtime_version") || has("hip_driver_version")) {
    vendor = Vendor::kAmd;
  } else if (vendor == Vendor::kUnknown &&
             (has("cupti_version") || has("cuda_runtime_version") ||
              has("cuda_driver_version"))) {
    vendor = Vendor::kNvidia;
  }
  for (const std::string_view key :
       {"deviceProperties", "distributedInfo", "baseTimeNanoseconds",
        "cuda_runtime_version", "hip_runtime_version"}) {
    if (const auto value = FindMember(text, key)) AddMember(key, *value);
  }
}

void KinetoMetadata::AddMember(std::string_view key, std::string_view value) {
  const json parsed = json::parse(value, nullptr, false);
  if (parsed.is_discarded()) return;
  if (key == "deviceProperties") devices = DevicesOf(parsed);
  if (key == "distributedInfo" && parsed.is_object()) {
    rank = MemberOf(parsed, "rank");
    world_size = MemberOf(parsed, "world_size");
  }
  const std::optional<int64_t> number = IntegerOf(parsed);
  if (!number) return;
  if (key == "baseTimeNanoseconds") base_time_ns = number;
  if (key == "cuda_runtime_version") {  // 13000 = 13.0
    runtime_version =
        fmt::format("CUDA {}.{}", *number / 1000, *number % 1000 / 10);
  }
  if (key == "hip_runtime_version") {  // 70226015 = 7.2.26015
    runtime_version = fmt::format("HIP {}.{}.{}", *number / 10'000'000,
                                  *number / 100'000 % 100, *number % 100'000);
  }
}

}  // namespace inferdiff
