// SPDX-License-Identifier: Apache-2.0
// Device totals of public traces against exact answers computed elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "readers/reader.h"

namespace inferdiff {
namespace {

std::filesystem::path TracesFolder() {
  const char* folder = std::getenv("INFERDIFF_TRACES");
  return folder != nullptr ? folder : INFERDIFF_SOURCE_DIR "/../shared/traces";
}

struct DeviceTotals {
  int64_t ops = 0, sum_ns = 0, busy_ns = 0, span_ns = 0;
};

DeviceTotals TotalsOf(const GpuOps& ops) {
  DeviceTotals totals;
  totals.ops = static_cast<int64_t>(ops.size());
  int64_t covered = ops.start_ns.front();
  int64_t last = covered;
  for (size_t i = 0; i < ops.size(); ++i) {
    totals.sum_ns += ops.dur_ns[i];
    const int64_t from = std::max(covered, ops.start_ns[i]);
    if (ops.end_ns(i) > from) totals.busy_ns += ops.end_ns(i) - from;
    covered = std::max(covered, ops.end_ns(i));
    last = std::max(last, ops.end_ns(i));
  }
  totals.span_ns = last - ops.start_ns.front();
  return totals;
}

void CheckLine(const std::filesystem::path& folder, const std::string& line) {
  SCOPED_TRACE(line);
  const std::string name = line.substr(0, line.find(" | "));
  const std::string rest = line.substr(name.size() + 3);
  const std::string path = (folder / name).string();
  if (rest.rfind("no GPU events", 0) == 0) {
    // Of Kineto: other formats may have some.
    try {
      EXPECT_NE(ReadTrace(path, {}).format, "Kineto JSON");
    } catch (const InputError&) {
    }
    return;
  }
  int64_t device = 0, idle = 0, graphs = 0;
  DeviceTotals want;
  ASSERT_EQ(
      std::sscanf(rest.c_str(),
                  "device %" SCNd64 " | ops=%" SCNd64 " sum_ns=%" SCNd64
                  " busy_ns=%" SCNd64 " span_ns=%" SCNd64 " idle_ns=%" SCNd64
                  " | graph launches in the file %" SCNd64,
                  &device, &want.ops, &want.sum_ns, &want.busy_ns,
                  &want.span_ns, &idle, &graphs),
      7);
  const SourceFile file = ReadTrace(path, {});
  for (const Trace& trace : file.traces) {
    if (trace.info.device != device) continue;
    const DeviceTotals got = TotalsOf(trace.ops);
    EXPECT_EQ(got.ops, want.ops);
    EXPECT_EQ(got.sum_ns, want.sum_ns);
    EXPECT_EQ(got.busy_ns, want.busy_ns);
    EXPECT_EQ(got.span_ns, want.span_ns);
    EXPECT_EQ(trace.info.graph_launches, graphs);
    return;
  }
  FAIL() << "no such device";
}

TEST(KinetoOracle, EveryDeviceToTheNanosecond) {
  const std::filesystem::path folder = TracesFolder();
  std::ifstream oracle(folder / "ORACLE.txt");
  if (!oracle) GTEST_SKIP() << "no public traces in " << folder;
  std::string line;
  int lines = 0;
  for (; std::getline(oracle, line); ++lines) CheckLine(folder, line);
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace inferdiff
