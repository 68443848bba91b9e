// SPDX-License-Identifier: Apache-2.0
// What inferdiff-probe measured on a machine: docs/format-probe.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/rational.h"

namespace inferdiff {

struct ProbeResult {
  std::string device;  // as the runtime names it
  /// What one more tiny kernel in a graph costs, ns: as it is, and with a
  /// tracer running.
  std::optional<Rational> floor, traced_floor;
  std::optional<int64_t> bytes_per_s;  // the best of its copies
};

/// Throws InputError "bad-config".
ProbeResult ParseProbe(std::string_view text, const std::string& path);

/// Both floors with a tracer running, else both without: a difference of the
/// two kinds is no difference of machines. Of one probe alone likewise.
struct ProbeFloors {
  std::optional<Rational> a, b;
  bool traced = false;
};
ProbeFloors SameFloors(const std::optional<ProbeResult>& a,
                       const std::optional<ProbeResult>& b);

/// A trace's device is the probe's, as far as both say.
bool IsOf(const ProbeResult& probe, std::string_view gpu_name);

}  // namespace inferdiff
