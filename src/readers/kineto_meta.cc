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

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

void KinetoMetadata::Add(std::string_view key, std::string_view value) {
  if (StartsWith(key, "roctracer") || StartsWith(key, "rocprofiler") ||
      StartsWith(key, "hip_")) {
    vendor = Vendor::kAmd;
  } else if (StartsWith(key, "cupti_") || StartsWith(key, "cuda_")) {
    if (vendor == Vendor::kUnknown) vendor = Vendor::kNvidia;
  }
  const bool wanted = key == "deviceProperties" || key == "distributedInfo" ||
                      key == "baseTimeNanoseconds" ||
                      key == "cuda_runtime_version" ||
                      key == "hip_runtime_version";
  // The parser below recurses; what is wanted is two levels deep.
  constexpr size_t kLongest = 1 << 20;
  if (!wanted || value.size() > kLongest) return;
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
