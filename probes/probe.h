// SPDX-License-Identifier: Apache-2.0
// The probes: each adds its results to the session's report.
#pragma once

#include <string>
#include <utility>

#include "probes/clocks.h"
#include "probes/result.h"

namespace inferdiff {

struct Session {
  Report report;
  Clocks* clocks = nullptr;
  StopRule rule;

  /// Adds a result and looks at the clocks, which work has just kept up.
  void Add(Result result) {
    report.results.push_back(std::move(result));
    clocks->Sample();
  }
};

struct DeviceSearch {
  int count = 0;
  std::string why;      // where there is none: what was looked for
  std::string runtime;  // "CUDA 13.0"
  std::string name;     // of device 0
  std::string bus_id;   // "0000:65:00.0"
};
/// Never throws: without a GPU, a driver or the rights to it, count is 0.
DeviceSearch FindDevices();

/// The canary's copies, without its results.
void UseMemory(const Session& session);

/// Keeps the device busy for a third of a second: idle ones run slower.
void WarmUp();

// Each throws GpuError where a call fails.
void ProbeInfo(Session* session);
void ProbeFloor(Session* session);
void ProbeCanary(Session* session);
void ProbeCollective(Session* session);
void ProbeOverlap(Session* session);
void ProbeTraceCost(Session* session);

}  // namespace inferdiff
