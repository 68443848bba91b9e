// SPDX-License-Identifier: Apache-2.0
// How long a database takes, in units of stepping over the same rows.
//
//   bench_sqlite FILE [RUNS [BAR]]
//
// The reference steps with sqlite3_step over the rows of the statements that
// the reader runs, with SQLite's own file access, and asks for no value; once
// more with all columns. Runs alternate. Prints medians, of reading on one
// thread and on two, beside what it may take.
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "readers/reader.h"

namespace inferdiff {
namespace {

template <typename Work>
double SecondsOf(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
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
    "globalPid, coalesce(demangledName, mangledName, shortName) "
    "FROM CUPTI_ACTIVITY_KIND_KERNEL",
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

size_t Read(const std::string& path, unsigned threads) {
  ReadOptions options;
  options.threads = threads;
  size_t ops = 0;
  const SourceFile file = ReadTrace(path, options);
  for (const Trace& trace : file.traces) ops += trace.ops.size();
  return ops;
}

void Main(const std::string& path, int runs, const std::string& bar) {
  std::vector<double> all_columns, our_columns, one_thread, two_threads;
  size_t rows = 0;
  size_t ops = 0;
  rusage usage{};
  for (int i = 0; i < runs; ++i) {
    two_threads.push_back(SecondsOf([&] { ops = Read(path, 2); }));
    // Later runs find the memory as the first one left it, in pieces.
    if (i == 0) getrusage(RUSAGE_SELF, &usage);
    one_thread.push_back(SecondsOf([&] { Read(path, 1); }));
    our_columns.push_back(
        SecondsOf([&] { rows = StepOver(path, kOurColumns); }));
    all_columns.push_back(SecondsOf([&] { StepOver(path, kAllColumns); }));
  }
  const double ours = MedianOf(our_columns);
  const double all = MedianOf(all_columns);
  fmt::print("{}: {} rows, {} ops\n  step over ours {:.3f} s, all {:.3f} s",
             path, rows, ops, ours, all);
  for (const auto& [threads, seconds] : {std::pair(1, MedianOf(one_thread)),
                                         std::pair(2, MedianOf(two_threads))}) {
    fmt::print("  read on {} {:.3f} s = {:.2f} and {:.2f} times that{}",
               threads, seconds, seconds / ours, seconds / all,
               bar.empty() ? "" : " of " + bar);
  }
  fmt::print("  peak {} MB\n", usage.ru_maxrss / 1024);
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_sqlite FILE [RUNS [BAR]]\n");
    return 2;
  }
  inferdiff::Main(argv[1], argc > 2 ? std::atoi(argv[2]) : 5,
                  argc > 3 ? argv[3] : "");
  return 0;
}
