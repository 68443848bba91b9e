// SPDX-License-Identifier: Apache-2.0
// The vendor's tracer inside this process: CUPTI's activity records of kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace inferdiff {

class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual std::string name() const = 0;  // "cupti"
  virtual void Start() = 0;
  virtual void Stop() = 0;
  /// Durations in ns of the kernels since the last call, in any order.
  virtual std::vector<double> TakeDurations() = 0;
};

/// Null where there is none; `why` then says what was looked for.
std::unique_ptr<Tracer> OpenTracer(std::string* why);

}  // namespace inferdiff
