// SPDX-License-Identifier: Apache-2.0
// One CSV table of a rocprof run: its columns, and its rows as records.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/csv_header.h"
#include "readers/csv_walker.h"
#include "readers/rocprof_records.h"
#include "readers/walk_end.h"

namespace inferdiff {

/// What a table is about, by its columns.
enum class RocprofRowKind : uint8_t {
  kUnknown,  // no table of rocprof
  kKernels,
  kCopies,
  kApi,       // functions called, or ranges named
  kAgents,    // processors of the host
  kCounters,  // a row a dispatch and counter
  kSummary,   // without times, or of something that is not on the GPU
};

RocprofRowKind RowKindOf(const CsvHeader& header);

/// Where what is wanted stands; kNoColumn: nowhere.
struct RocprofColumns {
  RocprofRowKind kind = RocprofRowKind::kUnknown;
  CsvShape shape;
  size_t name = kNoColumn;  // kernel, direction, function
  size_t start = kNoColumn;
  size_t end = kNoColumn;
  size_t correlation = kNoColumn;
  size_t process = kNoColumn;
  // Of ops; a copy's agent is the destination, or the source.
  size_t agent = kNoColumn;
  size_t source = kNoColumn;
  size_t queue = kNoColumn;
  size_t stream = kNoColumn;
  // Of calls.
  size_t domain = kNoColumn;
  size_t thread = kNoColumn;
  // Of agents.
  size_t node = kNoColumn;
  size_t logical = kNoColumn;
  size_t type = kNoColumn;
  size_t product = kNoColumn;
  size_t cu_count = kNoColumn;
};

/// Throws InputError "missing-column" that names the column. `path` is for the
/// message.
RocprofColumns ColumnsOf(const CsvHeader& header, const std::string& path);

/// Walks rows of one table, for one thread (window_scan.h).
class RocprofRows : private CsvRowSink {
 public:
  using Batch = RocprofBatch;

  /// `by_process`: the processes of the records are told apart.
  RocprofRows(const RocprofColumns& columns, bool by_process)
      : columns_(columns), by_process_(by_process), walker_(columns.shape) {}

  struct State {
    bool lost = false;  // within a row that was given up
    bool operator==(const State&) const = default;
  };

  /// Behind the next line break: a row's start, or the middle of a text.
  static size_t Guess(std::string_view text, size_t from, State* state);
  WalkEnd Walk(std::string_view text, size_t from, size_t limit, bool final,
               State* state, RocprofBatch* batch);
  /// Behind the last walk of a batch.
  void End();

  std::vector<RocprofAgent> TakeAgents() { return std::move(agents_); }

 private:
  void TakeRow(const CsvRow& row) override;
  void TakeKernel(const CsvRow& row);
  void TakeCopy(const CsvRow& row);
  void TakeCall(const CsvRow& row);
  void TakeAgent(const CsvRow& row);
  bool ReadTimes(const CsvRow& row, int64_t* start_ns, int64_t* end_ns);
  int64_t CorrelationOf(const CsvRow& row);
  /// A lane whose texts have fewer than eight bytes each.
  using ShortLane = std::array<uint64_t, 4>;
  static uint64_t NumberOf(std::string_view field);
  uint32_t LaneOf(const RocprofLane& lane);
  uint32_t Used(uint32_t name);
  std::string_view ProcessOf(const CsvRow& row) const;

  RocprofColumns columns_;
  bool by_process_;
  CsvWalker walker_;
  RocprofLexicon lexicon_;
  RocprofBatch* batch_ = nullptr;
  std::vector<RocprofAgent> agents_;
  RocprofUses names_, lanes_, threads_;  // of the batch
  // The lane of the last op, which most often is that of the next one.
  ShortLane last_key_{};
  uint32_t last_lane_ = 0;
  bool has_lane_ = false;
  std::string key_;
};

}  // namespace inferdiff
