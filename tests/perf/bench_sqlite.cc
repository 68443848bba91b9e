// SPDX-License-Identifier: Apache-2.0
// How long a database takes, in units of stepping over the same rows.
//
//   bench_sqlite FILE [RUNS]
//
// The reference steps over the rows of the tables that the reader reads, with
// SQLite's own file access, and does nothing with them: once with all columns,
// once with those that the reader takes. Runs alternate. Prints medians.
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "readers/reader.h"

namespace inferdiff {
namespace {

/// Of this process's processors: both sides use one thread, and a busy machine
/// does not count.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / 1e9;
}

template <typename Work>
double SecondsOf(Work work) {
  const double begin = CpuSeconds();
  work();
  return CpuSeconds() - begin;
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr const char* kAllColumns[] = {
    "SELECT * FROM StringIds", "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", "SELECT * FROM NVTX_EVENTS"};
constexpr const char* kOurColumns[] = {
    "SELECT rowid, id, value FROM StringIds",
    "SELECT rowid, start, end, globalTid, correlationId, nameId "
    "FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT rowid, start, end, deviceId, contextId, streamId, correlationId, "
    "globalPid, demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL",
    "SELECT rowid, start, end, eventType, globalTid, text, textId "
    "FROM NVTX_EVENTS"};

size_t StepOver(const std::string& path, const char* const (&statements)[4]) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) !=
      SQLITE_OK) {
    std::abort();
  }
  size_t rows = 0;
  for (const char* const sql : statements) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK)
      std::abort();
    while (sqlite3_step(statement) == SQLITE_ROW) ++rows;
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  return rows;
}

void Main(const std::string& path, int runs) {
  std::vector<double> all_columns, our_columns, reads;
  size_t rows = 0;
  size_t ops = 0;
  for (int i = 0; i < runs; ++i) {
    all_columns.push_back(
        SecondsOf([&] { rows = StepOver(path, kAllColumns); }));
    our_columns.push_back(SecondsOf([&] { StepOver(path, kOurColumns); }));
    reads.push_back(SecondsOf([&] {
      ops = 0;
      const SourceFile file = ReadTrace(path, {});
      for (const Trace& trace : file.traces) ops += trace.ops.size();
    }));
  }
  const double all = MedianOf(all_columns);
  const double ours = MedianOf(our_columns);
  const double read = MedianOf(reads);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{}: {} rows, {} ops\n"
      "  step over all columns {:.3f} s, over ours {:.3f} s  read {:.3f} s = "
      "{:.2f} and {:.2f} times that  peak {} MB\n",
      path, rows, ops, all, ours, read, read / all, read / ours,
      usage.ru_maxrss / 1024);
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_sqlite FILE [RUNS]\n");
    return 2;
  }
  inferdiff::Main(argv[1], argc > 2 ? std::atoi(argv[2]) : 5);
  return 0;
}
