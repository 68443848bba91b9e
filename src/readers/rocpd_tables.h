// SPDX-License-Identifier: Apache-2.0
// What rows of a rocpd database refer to: events, tracks, agents, processes.
// Releases differ in whether a row names its place and times or refers to
// them; both are read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "readers/id_table.h"
#include "readers/sqlite_database.h"
#include "readers/sqlite_strings.h"
#include "readers/trace_sink.h"

namespace inferdiff {

/// One column of integers by another: rocpd_timestamp's value by its id.
class SqliteNumbers {
 public:
  SqliteNumbers(SqliteDatabase* database, std::string_view table,
                std::string_view id, std::string_view value,
                ImportCounters* counters);

  std::optional<int64_t> Find(int64_t id) const;

 private:
  std::vector<int64_t> Load(SqliteDatabase* database, std::string_view table,
                            std::string_view id, std::string_view value,
                            ImportCounters* counters);

  std::vector<int64_t> values_;
  IdTable index_;
};

/// A processor, most of them GPUs.
struct RocpdAgent {
  bool is_gpu = false;
  int64_t number = 0;  // of the node, CPUs counted
  std::string name;    // "AMD Instinct MI300X"
  std::optional<int64_t> cu_count;
};

struct RocpdProcess {
  int64_t pid = 0;
  std::optional<int64_t> rank, world_size;  // of its environment
};

/// Where a row of work or of a call belongs. kUnknown: not said.
struct RocpdPlace {
  static constexpr int64_t kUnknown = -1;

  int64_t process = kUnknown;  // row of rocpd_info_process
  int64_t thread = kUnknown;   // row of rocpd_info_thread
  int64_t agent = kUnknown;
  int64_t queue = kUnknown;
  int64_t stream = kUnknown;

  bool operator==(const RocpdPlace&) const = default;
};

/// The link to a call, and the text of a marker.
class RocpdEvents {
 public:
  RocpdEvents(SqliteDatabase* database, const std::string& suffix,
              const SqliteStrings& strings, TraceSink* sink,
              ImportCounters* counters);

  /// 0: no such event.
  int64_t CorrelationOf(int64_t event) const;
  /// kNone: no marker, or one without a text.
  NameId MarkerOf(int64_t event) const;

 private:
  std::vector<int64_t> Load(SqliteDatabase* database, const std::string& suffix,
                            const SqliteStrings& strings, TraceSink* sink,
                            ImportCounters* counters);

  std::vector<int64_t> correlation_;
  std::vector<NameId> marker_;
  IdTable index_;
};

std::map<int64_t, RocpdAgent> ReadRocpdAgents(SqliteDatabase* database,
                                              const std::string& suffix,
                                              ImportCounters* counters);
std::map<int64_t, RocpdProcess> ReadRocpdProcesses(SqliteDatabase* database,
                                                   const std::string& suffix,
                                                   ImportCounters* counters);
std::map<int64_t, RocpdPlace> ReadRocpdTracks(SqliteDatabase* database,
                                              const std::string& suffix,
                                              ImportCounters* counters);

}  // namespace inferdiff
