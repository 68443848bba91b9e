// SPDX-License-Identifier: Apache-2.0
// A database that nobody vouches for, read table by table in the order of its
// rows. Only statements of our own on stored tables run: no view, no trigger,
// no virtual table, no function of the schema's. The work is bounded by the
// size of the file, whatever its pages say.
//
//   SqliteDatabase database(file, compression);
//   SqliteRows rows(&database, "CUPTI_ACTIVITY_KIND_KERNEL",
//                   {"start", "end", "graphNodeId"}, &counters);
//   while (rows.Next()) use(rows.rowid(), rows.Int(0), rows.Int(1));
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/input_file.h"
#include "model/counters.h"
#include "readers/sqlite_file.h"

struct sqlite3;
struct sqlite3_stmt;

namespace inferdiff {

class SqliteDatabase {
 public:
  /// Unpacks a compressed file. Throws InputError "bad-database",
  /// "truncated-database", "database-in-use" and what Unpack throws.
  SqliteDatabase(const InputFile& file, Compression compression,
                 std::function<void(double)> progress);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  /// Names of the stored tables.
  const std::set<std::string, std::less<>>& tables() const { return tables_; }
  bool HasTable(std::string_view name) const {
    return tables_.find(name) != tables_.end();
  }
  /// Of a stored table. Generated columns are left out.
  std::set<std::string, std::less<>> ColumnsOf(std::string_view table);
  uint32_t crc32() const { return crc32_; }
  const std::string& path() const { return path_; }

 private:
  friend class SqliteRows;

  void Configure();
  void ReadTables();
  sqlite3_stmt* Prepare(const std::string& sql);
  InputError Bad(const std::string& what) const;

  std::string path_;
  std::unique_ptr<InputFile> unpacked_;
  const InputFile* file_;
  std::function<void(double)> progress_;
  std::unique_ptr<SqliteFile> handle_;
  sqlite3* database_ = nullptr;
  uint32_t crc32_ = 0;
  std::set<std::string, std::less<>> tables_;
  uint64_t work_ = 0;  // of the statement that runs, in calls of the handler
};

/// Rows of one table. A table that is not there has none.
class SqliteRows {
 public:
  /// "a|b" is column a, or b where that is NULL. Columns that are not there are
  /// NULL. Damage ends the rows and is counted as damaged_table.
  SqliteRows(SqliteDatabase* database, std::string_view table,
             std::initializer_list<std::string_view> columns,
             ImportCounters* counters);
  ~SqliteRows();
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;

  bool Next();
  int64_t rowid() const;
  /// By the column's place in the list.
  bool HasColumn(size_t column) const { return place_[column] >= 0; }
  bool IsInt(size_t column) const;
  bool IsText(size_t column) const;
  /// As SQLite converts it; 0 for NULL.
  int64_t Int(size_t column) const;
  /// Valid until Next; empty where it is no text.
  std::string_view Text(size_t column) const;

 private:
  SqliteDatabase* database_;
  ImportCounters* counters_;
  sqlite3_stmt* statement_ = nullptr;
  std::vector<int> place_;  // in the result; -1: the table has no such column
  uint64_t rows_ = 0;
};

}  // namespace inferdiff
