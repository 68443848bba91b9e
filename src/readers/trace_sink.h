// SPDX-License-Identifier: Apache-2.0
// From rows in any order to traces: for every reader of tables.
//
//   process 708   [launch 7]  [graph launch 9]         correlations are one
//                     |           |      |             process's own
//   device 0          +->[op 7]   +->[9][9]   stream 7
//   device 1                             [9]  stream 21
//
// A trace is one (process, device). A reader opens processes, devices, lanes
// and threads as it meets them, adds rows, and calls Finish, which sorts,
// numbers the lanes by id, links launches and keeps of the host calls what
// the model wants (model/trace.h). Nothing depends on the order of the rows
// but ordinals, which are the reader's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "model/trace.h"
#include "readers/op_columns.h"

namespace inferdiff {

class LaunchIndex;

/// Whether the times can be used; those beyond 2^62 ns are counted as
/// time_out_of_range, and an end before its start becomes a duration of 0
/// (negative_duration).
bool AcceptTimes(int64_t start_ns, int64_t* end_ns, ImportCounters* counters);

/// Every trace looks through the calls of its process. Throws InputError
/// "too-many-devices" where `devices` are more than 1024.
void CheckDeviceCount(size_t devices);

class TraceSink {
 public:
  struct Op {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t correlation = 0;  // 0 = none
    uint64_t ordinal = 0;
    NameId name = 0;
    uint32_t lane = 0;  // of Lane()
    OpKind kind = OpKind::kKernel;
  };
  struct Call {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t correlation = 0;
    uint64_t ordinal = 0;
    NameId name = 0;
    uint32_t thread = 0;  // of Thread()
    CallKind kind = CallKind::kKernelLaunch;
  };

  /// `counters` must outlive the sink.
  explicit TraceSink(ImportCounters* counters);

  /// Invalid UTF-8 is replaced, and counted once a distinct name.
  NameId Name(std::string_view text);
  /// `key` orders the processes and `label` is what is printed for them.
  uint32_t Process(int64_t key, std::string_view label);
  uint32_t Thread(uint32_t process, int64_t id, std::string_view label);
  /// The trace of this device and process. Throws what CheckDeviceCount does.
  uint32_t Device(uint32_t process, int64_t device);
  /// Facts about the trace, for the reader to fill; `device` is set.
  TraceInfo& info(uint32_t device) { return devices_[device].info; }
  uint32_t Lane(uint32_t device, int64_t id, std::string_view label);

  /// Those whose times AcceptTimes does not take are dropped.
  void AddOp(const Op& op);
  void AddCall(const Call& call);
  /// Room for so many, made with the first of the next device or process.
  void ExpectOps(size_t ops) { expected_ops_ = ops; }
  void ExpectCalls(size_t calls) { expected_calls_ = calls; }
  /// Many at once, their times accepted already: ops of one device, calls of
  /// one process. They are not copied where they are the first.
  void AddOps(uint32_t device, GpuOps ops);
  void AddCalls(uint32_t process, std::vector<Call> calls);
  /// A named host range.
  void AddRange(uint32_t thread, int64_t start_ns, int64_t end_ns, NameId name,
                uint64_t ordinal);
  /// A named range on a lane.
  void AddGpuRange(uint32_t lane, int64_t start_ns, int64_t end_ns, NameId name,
                   uint64_t ordinal);

  /// Host time of the profiler itself.
  void AddProfilerSpan(uint32_t process, int64_t start_ns, int64_t end_ns);

  size_t ops() const { return op_count_; }

  /// Consumes the rows. Traces without ops are left out; they come by
  /// (process key, device). Graph launches count per process.
  void Finish(SourceFile* file);

 private:
  struct Host {
    int64_t key = 0;
    std::string label;
    std::vector<Call> calls;
    std::vector<Annotation> ranges;  // where: index in threads_
    std::vector<ProfilerSpan> profiler = {};
    std::vector<uint8_t> answered = {};  // by call: some op refers to it
  };
  struct ThreadRow {
    uint32_t process = 0;
    std::string label;
  };
  struct DeviceRows {
    uint32_t process = 0;
    TraceInfo info;
    OpColumns ops;                   // as they come; lane: index in lanes_
    std::vector<Annotation> ranges;  // where: index in lanes_
  };
  struct LaneRow {
    uint32_t device = 0;
    inferdiff::Lane lane;
  };

  bool Accept(int64_t start_ns, int64_t* end_ns) {
    return AcceptTimes(start_ns, end_ns, counters_);
  }
  void FillLanes(uint32_t device, Trace* trace);
  void FillOps(DeviceRows* rows, Trace* trace);
  std::vector<uint8_t> LinkOps(Host* host, bool count, Trace* trace);
  void FillCalls(Host* host, bool count, Trace* trace);
  void FillRanges(const DeviceRows& rows, Trace* trace);
  static void MarkRepeated(const LaunchIndex& index, Host* host);
  static LaunchTally TallyOf(const Host& host);
  uint32_t ThreadIn(uint32_t thread, Trace* trace);

  ImportCounters* counters_;
  std::shared_ptr<StringPool> names_ = std::make_shared<StringPool>();
  std::vector<Host> processes_;
  std::vector<ThreadRow> threads_;
  std::vector<DeviceRows> devices_;
  std::vector<LaneRow> lanes_;
  std::map<std::pair<int64_t, std::string>, uint32_t> process_index_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> thread_index_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> device_index_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> lane_index_;
  size_t op_count_ = 0;
  size_t expected_ops_ = 0, expected_calls_ = 0;
  // Of the trace that is being built.
  std::vector<uint32_t> lane_number_;    // by lane; kNone: not in it
  std::vector<uint32_t> thread_number_;  // by thread; kNone: not in it
};

}  // namespace inferdiff
