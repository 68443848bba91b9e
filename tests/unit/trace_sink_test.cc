// SPDX-License-Identifier: Apache-2.0
#include "readers/trace_sink.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace inferdiff {
namespace {

TEST(TraceSink, LinksWithinAProcessAndSplitsByDevice) {
  SourceFile file;
  TraceSink sink(&file.counters);
  const NameId kernel = sink.Name("k");
  const NameId launch = sink.Name("cudaLaunchKernel");
  for (const int64_t pid : {20, 10}) {
    const uint32_t process = sink.Process(pid, std::to_string(pid));
    const uint32_t thread = sink.Thread(process, 1, "main");
    sink.AddCall({pid, pid + 1, 7, 0, launch, thread, CallKind::kKernelLaunch});
    sink.AddCall({pid, pid + 1, 8, 1, launch, thread, CallKind::kKernelLaunch});
    const uint32_t lane = sink.Lane(sink.Device(process, 0), 5, "5");
    sink.AddOp({pid + 100, pid + 110, 7, 3, kernel, lane, OpKind::kKernel});
  }
  sink.Finish(&file);
  ASSERT_EQ(file.traces.size(), 2U);
  for (const Trace& trace : file.traces) {
    ASSERT_EQ(trace.ops.size(), 1U);
    ASSERT_EQ(trace.calls.size(), 1U);  // the other one launched nothing
    EXPECT_EQ(trace.ops.launch[0], 0U);
    EXPECT_EQ(trace.calls.start_ns[0] + 100, trace.ops.start_ns[0]);
  }
  EXPECT_EQ(file.traces[0].threads[0].process, "10");
}

TEST(TraceSink, NumbersLanesByIdAndSortsOps) {
  SourceFile file;
  TraceSink sink(&file.counters);
  const NameId kernel = sink.Name("k");
  const uint32_t device = sink.Device(sink.Process(1, "1"), 3);
  const uint32_t late = sink.Lane(device, 9, "9");
  const uint32_t early = sink.Lane(device, 2, "2");
  sink.AddOp({50, 60, 0, 1, kernel, late, OpKind::kKernel});
  sink.AddOp({50, 60, 0, 2, kernel, early, OpKind::kKernel});
  sink.AddOp({10, 5, 0, 0, kernel, late, OpKind::kMemcpy});
  sink.AddOp({INT64_MAX, 5, 0, 4, kernel, late, OpKind::kKernel});
  sink.Finish(&file);
  ASSERT_EQ(file.traces.size(), 1U);
  const Trace& trace = file.traces[0];
  EXPECT_EQ(trace.info.device, 3);
  EXPECT_EQ(trace.lanes[0].id, 2);
  EXPECT_EQ(trace.ops.ordinal, (std::vector<uint64_t>{0, 2, 1}));
  EXPECT_EQ(trace.ops.dur_ns, (std::vector<int64_t>{0, 10, 10}));
  EXPECT_EQ(file.counters[Counter::kNegativeDuration], 1U);
  EXPECT_EQ(file.counters[Counter::kTimeOutOfRange], 1U);
  EXPECT_EQ(file.counters[Counter::kUnlinkedOp], 3U);
}

TEST(TraceSink, RepairsNamesWithoutReadingEscapes) {
  SourceFile file;
  TraceSink sink(&file.counters);
  const NameId bad = sink.Name("a\\n\xff");
  EXPECT_EQ(sink.Name("a\\n\xff"), bad);
  EXPECT_EQ(file.counters[Counter::kInvalidUtf8], 1U);
  const uint32_t lane = sink.Lane(sink.Device(sink.Process(1, ""), 0), 0, "0");
  sink.AddOp({1, 2, 0, 0, bad, lane, OpKind::kKernel});
  sink.Finish(&file);
  EXPECT_EQ((*file.traces[0].names)[bad], "a\\n\ufffd");
}

TEST(TraceSink, BoundsTheDevices) {
  ImportCounters counters;
  TraceSink sink(&counters);
  const uint32_t process = sink.Process(1, "1");
  for (int64_t device = 0; device < 1024; ++device)
    sink.Device(process, device);
  EXPECT_THROW(sink.Device(process, 1024), InputError);
}

}  // namespace
}  // namespace inferdiff
