// SPDX-License-Identifier: Apache-2.0
// The facts about a capture that stand beside `traceEvents`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace inferdiff {

struct DeviceProperties {
  std::optional<int64_t> id;
  std::string name;
  std::optional<int64_t> sm_count;
  std::optional<int64_t> warp_size;
};

struct KinetoMetadata {
  Vendor vendor = Vendor::kUnknown;  // as far as the keys tell
  std::optional<int64_t> base_time_ns;
  std::optional<int64_t> rank, world_size;
  std::string runtime_version;
  std::vector<DeviceProperties> devices;

  /// One member of the top-level object, the value as JSON text. Members that
  /// cannot be parsed or are of no interest leave no trace. Last one wins.
  void Add(std::string_view key, std::string_view value);
};

}  // namespace inferdiff
