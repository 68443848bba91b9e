// SPDX-License-Identifier: Apache-2.0
// The device's clocks and limits, as its driver tells them: NVML, or amdgpu's
// files in /sys. Only read, never set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/host.h"
#include "probes/result.h"

namespace inferdiff {

class Clocks {
 public:
  /// `bus_id` is "0000:65:00.0".
  explicit Clocks(const std::string& bus_id);

  bool found() const { return nvml_device_ != nullptr || !amd_.empty(); }
  const std::string& why() const { return why_; }

  /// Reads the clocks now. To be called behind work: idle devices slow down.
  void Sample();

  /// Limits, power and driver, as they are now.
  Facts DeviceFacts() const;
  /// Lowest and highest of what was sampled, and what held the clocks back.
  Facts Sampled() const;
  /// Sentences on clocks that moved or were held back while measuring.
  std::vector<std::string> Doubts() const;

 private:
  std::optional<int64_t> SmClock() const;
  std::optional<int64_t> MemoryClock() const;
  uint64_t HeldBackBy() const;
  Facts NvidiaFacts() const;
  Facts AmdFacts() const;

  Library nvml_;
  void* nvml_device_ = nullptr;
  std::string amd_;  // the device's folder
  std::string why_;
  std::vector<int64_t> sm_mhz_, memory_mhz_;
  uint64_t held_back_ = 0;  // NVML's reason bits, of all samples
};

/// "power limit, temperature" from NVML's clocks event reasons; the harmless
/// ones (idle, clocks set by an application) are left out.
std::string ReasonText(uint64_t reasons);

}  // namespace inferdiff
