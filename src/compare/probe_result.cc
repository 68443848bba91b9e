// SPDX-License-Identifier: Apache-2.0
#include "compare/probe_result.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "compare/config_fields.h"

namespace inferdiff {
namespace {

/// Whole ps as ns.
Rational Nanoseconds(const ConfigFields& result) {
  const std::string unit = result.NeededText("unit");
  int64_t scale = 0;
  if (unit == "ns") scale = 1'000;
  if (unit == "us") scale = 1'000'000;
  if (scale == 0)
    result.Fail(
        fmt::format("a floor in '{}': ns or us is wanted", Printable(unit)));
  const int64_t picoseconds = result.Scaled("value", scale).value_or(0);
  constexpr int64_t kMost = 1'000'000'000'000;  // a second
  if (picoseconds < 1 || picoseconds > kMost)
    result.Fail("a floor that is no time above 0 and below a second");
  return {picoseconds, 1000};
}

int64_t BytesPerSecond(const ConfigFields& result) {
  const std::string unit = result.NeededText("unit");
  if (unit != "GB/s")
    result.Fail(
        fmt::format("a bandwidth in '{}': GB/s is wanted", Printable(unit)));
  const int64_t bytes = result.Scaled("value", 1'000'000'000).value_or(0);
  constexpr int64_t kLeast = 1'000'000'000, kMost = 1'000'000'000'000'000;
  if (bytes < kLeast || bytes > kMost)
    result.Fail("a bandwidth that is not between 1 and 1,000,000 GB/s");
  return bytes;
}

}  // namespace

ProbeResult ParseProbe(std::string_view text, const std::string& path) {
  const ConfigFields root =
      ConfigFields::Parse(text, path, "a probe's results");
  if (root.Text("kind") != "probe")
    root.Fail("kind is not probe: it was not written by inferdiff-probe");
  if (root.NeededWhole("schema") != 1)
    root.Fail("another schema than 1: another version wrote it");
  ProbeResult probe;
  probe.device = root.Text("device");
  for (const ConfigFields& result : root.Objects("results")) {
    const std::string id = result.NeededText("id");
    if (id == "floor") {
      std::string tracing = result.Text("tracing");
      if (tracing.empty()) tracing = root.NeededText("tracing");
      (tracing == "off" ? probe.floor : probe.traced_floor) =
          Nanoseconds(result);
    } else if (id == "bandwidth") {
      probe.bytes_per_s =
          std::max(probe.bytes_per_s.value_or(0), BytesPerSecond(result));
    }
  }
  return probe;
}

ProbeFloors SameFloors(const std::optional<ProbeResult>& a,
                       const std::optional<ProbeResult>& b) {
  for (const auto kind : {&ProbeResult::traced_floor, &ProbeResult::floor}) {
    ProbeFloors floors;
    floors.traced = kind == &ProbeResult::traced_floor;
    if (a) floors.a = *a.*kind;
    if (b) floors.b = *b.*kind;
    if (a.has_value() == floors.a.has_value() &&
        b.has_value() == floors.b.has_value())
      return floors;
  }
  return {};
}

bool IsOf(const ProbeResult& probe, std::string_view gpu_name) {
  // A virtual function has its device's name with something behind it.
  return probe.device.empty() || gpu_name.empty() ||
         gpu_name.starts_with(probe.device) ||
         std::string_view(probe.device).starts_with(gpu_name);
}

}  // namespace inferdiff
