// SPDX-License-Identifier: Apache-2.0
// What a probe found out, as plain data: docs/format-probe.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "probes/measure.h"

namespace inferdiff {

struct Fact {
  std::string name;
  std::variant<bool, int64_t, double, std::string> value;
};
using Facts = std::vector<Fact>;

struct Result {
  std::string id;    // what was measured: a row of kResultKinds
  std::string name;  // which of several; may be empty
  Facts facts;       // its shape: branches, bytes, launch; and by-products
  Measured measured;
  std::string unit = "ns";
  std::string tracing;  // the tracer that ran; empty: the report's
};

/// Something that was not measured, and what was looked for.
struct Absent {
  std::string what;
  std::string why;
};

struct Report {
  std::string command;  // "floor"
  std::string version;
  std::string runtime;  // "CUDA 13.0"
  std::string device;   // as the runtime names it
  /// "off", or a tracer that somebody else put into this process.
  std::string tracing = "off";
  std::vector<std::pair<std::string, Facts>> info;  // "device 0" → facts
  Facts clocks;
  std::vector<Result> results;
  std::vector<Absent> absent;
  std::vector<std::string> doubts;
  std::string verdict;  // of the canary against its baseline; else empty
  std::vector<std::string> reasons;  // for it
};

/// Round numbers for people and for small files: three decimals.
double Rounded(double value);

std::string JsonText(const Report& report);

/// Results and device of a report that was written earlier. Throws
/// std::runtime_error, which says what is wrong.
Report ReadReport(const std::string& text);

/// Tables for a terminal.
std::string TableText(const Report& report);

/// A result's name and shape in one line: "2 branches, graph".
std::string Label(const Result& result);

}  // namespace inferdiff
