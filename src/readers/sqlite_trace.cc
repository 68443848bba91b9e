// SPDX-License-Identifier: Apache-2.0
#include "readers/sqlite_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "readers/json_text.h"
#include "readers/nsys_reader.h"
#include "readers/rocpd_reader.h"
#include "readers/rpd_reader.h"
#include "readers/sqlite_database.h"

namespace inferdiff {
namespace {

struct Dialect {
  bool (*sniff)(const SqliteDatabase& database);
  void (*read)(SqliteDatabase* database, SourceFile* file);
  std::string_view capture;  // how to get one with GPU activity
};

constexpr Dialect kDialects[] = {
    {SniffNsys, ReadNsys,
     "capture again with nsys profile --trace=cuda,nvtx "
     "--cuda-graph-trace=node"},
    {SniffRocpd, ReadRocpd,
     "capture again with rocprofv3 --kernel-trace --memory-copy-trace "
     "--hip-trace --marker-trace"},
    {SniffRpd, ReadRpd, "capture again, with the GPU's activities enabled"},
};

/// The first few, in the order of their names.
std::string TablesIn(const SqliteDatabase& database) {
  constexpr size_t kMost = 6;
  constexpr size_t kLongest = 60;
  if (database.tables().empty()) return "no table";
  std::string text = "the tables ";
  size_t count = 0;
  for (const std::string& table : database.tables()) {
    if (count == kMost) break;
    if (count++ != 0) text += ", ";
    text += RepairText(table.substr(0, kLongest)).text;
  }
  if (database.tables().size() > kMost)
    text += fmt::format(" and {} more", database.tables().size() - kMost);
  return text;
}

InputError Unknown(const SqliteDatabase& database) {
  const auto& tables = database.tables();
  const auto is_nvprof = [](const std::string& name) {
    return name.substr(0, 14) == "CUPTI_ACTIVITY";
  };
  if (database.HasTable("StringTable") ||
      std::any_of(tables.begin(), tables.end(), is_nvprof)) {
    return InputError(
        "unknown-database", database.path(),
        "the database is one of nvprof, which ended with CUDA 11",
        "capture again with Nsight Systems: nsys profile "
        "--cuda-graph-trace=node, then nsys export --type sqlite");
  }
  return InputError(
      "unknown-database", database.path(),
      "the file is an SQLite database with " + TablesIn(database),
      "name an export of Nsight Systems (nsys export --type sqlite), a rocpd "
      "database of rocprofv3 or an RPD file");
}

}  // namespace

bool SniffSqlite(std::string_view head) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  return head.substr(0, kMagic.size()) == kMagic;
}

SourceFile ReadSqlite(const InputFile& file, Compression compression,
                      const ReadOptions& options) {
  SqliteDatabase database(file, compression, options);
  SourceFile result;
  for (const Dialect& dialect : kDialects) {
    if (!dialect.sniff(database)) continue;
    dialect.read(&database, &result);
    result.crc32 = database.crc32();
    if (result.traces.empty() &&
        result.counters.Total(Severity::kDataLoss) == 0) {
      throw InputError("no-gpu-events", database.path(),
                       "the trace has no GPU activity",
                       std::string(dialect.capture));
    }
    return result;
  }
  throw Unknown(database);
}

}  // namespace inferdiff
