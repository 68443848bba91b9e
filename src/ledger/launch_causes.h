// SPDX-License-Identifier: Apache-2.0
// Idle time outside graph replays by what the operation that it waits for did.
#pragma once

#include <cstdint>

namespace inferdiff {

struct LaunchCauses {
  int64_t host_late = 0;  // its launch call had not begun
  int64_t queued = 0;     // launched, but not started
  int64_t unknown = 0;    // no launch record

  int64_t total() const { return host_late + queued + unknown; }
  bool operator==(const LaunchCauses&) const = default;
};

}  // namespace inferdiff
