// SPDX-License-Identifier: Apache-2.0
// What the probe writes, and what compare reads of it.
#include "compare/probe_result.h"

#include <gtest/gtest.h>

#include <cmath>

#include "probes/result.h"

namespace inferdiff {
namespace {

Report Sample() {
  Report report;
  report.command = "all";
  report.version = "0.1.0";
  report.runtime = "CUDA 13.0";
  report.device = "NVIDIA H200";
  report.info = {
      {"device 0",
       {{"processors", int64_t{132}}, {"node", std::string("unknown")}}}};
  report.clocks = {{"sm_mhz_low", int64_t{1980}}};
  report.results = {
      {"floor", "", {}, {705.4321, 1.5, 11, true}, "ns", ""},
      {"floor", "", {}, {1657, 64, 101, false}, "ns", "cupti"},
      {"kernel",
       "independent chains",
       {{"branches", int64_t{2}}},
       {440, 3, 30, true},
       "ns",
       ""},
      {"trace_duration",
       "empty",
       {{"untraced_ns", 705.0}, {"believed", true}},
       {704, 1, 9, true},
       "ns",
       "cupti"},
      {"bandwidth", "memcpy", {}, {4222.25, 16, 11, true}, "GB/s", ""},
      {"bandwidth", "copy", {}, {3941, 8, 11, true}, "GB/s", ""}};
  report.absent = {{"all-reduce", "it needs two devices, one is visible"}};
  report.doubts = {"a doubt"};
  return report;
}

TEST(ProbeResult, CompareReadsWhatTheProbeWrites) {
  const ProbeResult read = ParseProbe(JsonText(Sample()), "x.json");
  EXPECT_EQ(read.device, "NVIDIA H200");
  EXPECT_EQ(read.floor, (Rational{705432, 1000}));
  EXPECT_EQ(read.traced_floor, (Rational{1657, 1}));
  EXPECT_EQ(read.bytes_per_s, 4'222'250'000'000);
}

TEST(ProbeResult, ReadsItsOwnAsABaseline) {
  const Report report = ReadReport(JsonText(Sample()));
  ASSERT_EQ(report.results.size(), 6u);
  EXPECT_EQ(report.device, "NVIDIA H200");
  EXPECT_EQ(report.results[4].name, "memcpy");
  EXPECT_DOUBLE_EQ(report.results[4].measured.median, 4222.25);
  EXPECT_DOUBLE_EQ(report.results[4].measured.spread, 16);
}

TEST(ProbeResult, RefusesOtherFiles) {
  for (const char* text : {"", "[]", "{}", "{\"kind\":\"ledger\",\"schema\":1}",
                           "{\"kind\":\"probe\",\"schema\":2}",
                           "{\"kind\":\"probe\",\"schema\":1,\"results\":[1]}",
                           "{\"kind\":\"probe\",\"schema\":\"1\"}"})
    EXPECT_THROW(ReadReport(text), std::runtime_error) << text;
}

TEST(ProbeResult, WhatIsNoNumberIsNull) {
  Report report = Sample();
  report.results[3].facts = {{"untraced_ns", std::nan("")}};
  EXPECT_NE(JsonText(report).find("\"untraced_ns\":null"), std::string::npos);
}

TEST(ProbeResult, RowsReadLikeSentences) {
  EXPECT_EQ(Label(Sample().results[2]), "independent chains, 2 branches");
  EXPECT_EQ(Label(Sample().results[3]),
            "empty, untraced 705.0 ns, believed yes");
}

TEST(ProbeResult, TheTableHasEveryResultAndWhatIsMissing) {
  const std::string table = TableText(Sample());
  for (const char* part :
       {"NVIDIA H200, CUDA 13.0", "tracer: off ", "tracer: cupti ", "1.66 us",
        "unsteady", "4222 GB/s", "Not measured: all-reduce: it needs",
        "Doubt: a doubt", "sm_mhz_low"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
}

}  // namespace
}  // namespace inferdiff
