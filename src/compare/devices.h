// SPDX-License-Identifier: Apache-2.0
// How fast a device's memory is, and who says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

struct Bandwidth {
  int64_t bytes_per_s = 0;  // 0: unknown
  std::string source;       // "datasheet", "probe", "given"
};

/// "4.80 TB/s".
std::string SpeedText(const Bandwidth& bandwidth);

/// What rules/devices.toml holds.
class DeviceTable {
 public:
  /// Throws InputError "bad-rules".
  explicit DeviceTable(std::string_view toml);

  /// By the name that a trace prints; unknown for other names.
  Bandwidth Of(std::string_view gpu_name) const;

 private:
  struct Device {
    std::string name;
    int64_t bytes_per_s = 0;
  };
  std::vector<Device> devices_;
};

/// The one in the binary, parsed once.
const DeviceTable& ShippedDevices();

}  // namespace inferdiff
