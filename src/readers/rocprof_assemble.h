// SPDX-License-Identifier: Apache-2.0
// From the records of one rocprof run to traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "readers/op_columns.h"
#include "readers/rocprof_records.h"

namespace inferdiff {

/// How names stand in the file.
enum class RocprofText : uint8_t { kCsv, kJson };

/// What is known when all records are there.
struct RocprofFacts {
  std::vector<RocprofAgent> agents;
  /// Of all records that name no process, "" when unknown.
  std::string process;
  bool truncated = false;
};

/// Takes records in the order of the files, and puts ops into columns as they
/// come. An agent "Agent 4", "4" or "GPU 0" is the device of its number. A lane
/// is a stream, or, where all streams are 0 (the runtime told the profiler
/// none), a queue; copies without a stream have a lane of their own. Which that
/// is, and what processes are called, is known at the end.
class RocprofAssembler {
 public:
  RocprofAssembler(RocprofText text, SourceFile* file)
      : text_(text), file_(file), sink_(&file->counters) {}

  /// `raw`: as the file writes it.
  NameId Name(std::string_view raw);
  /// `key`: of a RocprofLane.
  uint32_t Lane(std::string_view key, bool is_copy);
  /// `key`: process, '\x1f', thread.
  uint32_t Thread(std::string_view key);

  /// Records whose numbers those functions gave. The times of `ops` and `calls`
  /// are accepted (trace_sink.h).
  void AddOps(GpuOps ops);
  void AddCalls(std::vector<TraceSink::Call> calls);
  void AddRange(const TraceSink::Call& range) { ranges_.push_back(range); }

  /// A stretch of a CSV file, with the numbers of its thread; the ordinal of
  /// its first line and the share of the file in front of it.
  void Take(const RocprofBatch& batch, uint64_t first_ordinal, double share);

  size_t ops() const { return op_count_; }

  /// Fills file->traces.
  void Finish(const RocprofFacts& facts);

 private:
  /// Numbers of a thread's lexicon -> numbers of this; kNone: not met yet.
  struct Numbers {
    std::vector<uint32_t> names, lanes, copy_lanes, threads;
  };
  struct LaneRow {
    std::string key;
    bool is_copy = false;
    uint32_t device = 0;  // index in devices_
  };
  /// Ops of one agent of one process.
  struct DeviceRow {
    OpColumns ops;  // lane: index in lanes_
    RowForecast forecast;
  };

  void TakeOps(const RocprofBatch& batch, uint64_t first_ordinal,
               Numbers* numbers);
  uint32_t ProcessOf(std::string_view process, const RocprofFacts& facts);
  uint32_t DeviceOf(const RocprofLane& lane, const RocprofFacts& facts);
  uint32_t LaneOf(const LaneRow& row, bool by_stream, uint32_t device);
  bool StreamsTell() const;
  void FinishOps(const RocprofFacts& facts);
  void FinishCalls(const RocprofFacts& facts);

  RocprofText text_;
  SourceFile* file_;
  TraceSink sink_;
  std::map<const RocprofLexicon*, Numbers> numbers_;
  std::map<std::pair<std::string, bool>, uint32_t> lane_index_;
  std::vector<LaneRow> lanes_;
  std::map<std::pair<std::string, int64_t>, uint32_t> device_index_;
  std::vector<DeviceRow> devices_;
  StringPool threads_;
  std::vector<TraceSink::Call> calls_, ranges_;  // thread: in threads_
  size_t op_count_ = 0;
};

}  // namespace inferdiff
