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

  /// Takes what it knows out of text in front of or behind the events. Keys
  /// are found by their text wherever they stand, since what other tools add
  /// beside them need not be JSON. What cannot be parsed leaves no trace; of
  /// keys that stand twice the least nested holds, of equals the last one.
  void Add(std::string_view text);

 private:
  void AddMember(std::string_view key, std::string_view value);
};

}  // namespace inferdiff
