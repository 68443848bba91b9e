// SPDX-License-Identifier: Apache-2.0
// A database that nobody vouches for, read table by table in the order of its
// rows. Only statements of our own on stored tables run: no view, no trigger,
// no virtual table, no function of the schema's. The work is bounded by the
// size of the file, whatever its pages say.
//
//   SqliteDatabase database(file, compression);
//   SqliteRows rows(&database, "CUPTI_ACTIVITY_KIND_KERNEL",
//                   {"start", "end", "graphNodeId"}, &counters);
//   rows.ForEach([&] { use(rows.rowid(), rows.Int(0), rows.Int(1)); });
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <future>
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
#include "readers/reader.h"
#include "readers/sqlite_file.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace inferdiff {

class SqliteRows;

class SqliteDatabase {
 public:
  /// Unpacks a compressed file. Throws InputError "bad-database",
  /// "truncated-database", "database-in-use" and what Unpack throws.
  SqliteDatabase(const InputFile& file, Compression compression,
                 const ReadOptions& options);
  /// Another connection to the same file, for another thread. Without a
  /// checksum. `other` must outlive it.
  explicit SqliteDatabase(const SqliteDatabase* other);
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
  /// Waits for it. Throws InputError "unreadable-file".
  uint32_t crc32() { return crc32_.get(); }
  const std::string& path() const { return path_; }
  unsigned threads() const { return options_.threads; }

 private:
  friend class SqliteRows;
  friend struct SqliteRowFunction;

  void Open();
  void Configure();
  void ReadTables();
  sqlite3_stmt* Prepare(const std::string& sql);
  InputError Bad(const std::string& what) const;

  std::string path_;
  std::unique_ptr<InputFile> unpacked_;
  const InputFile* file_;
  ReadOptions options_;
  std::unique_ptr<SqliteFile> handle_;
  sqlite3* database_ = nullptr;
  std::future<uint32_t> crc32_;  // on a thread of its own
  std::set<std::string, std::less<>> tables_;
  uint64_t work_ = 0;  // of the statement that runs, in calls of the handler
  SqliteRows* rows_ = nullptr;  // those that are handed over now
};

/// Rows of one table. A table that is not there has none. They are handed over
/// as the arguments of an aggregate function of ours, which takes half the time
/// of stepping from row to row.
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

  /// Once: `take` may ask for the values of a row while it runs. What it throws
  /// ends the rows.
  void ForEach(const std::function<void()>& take);
  /// How many rows to expect: by the largest rowid, and no more than fit into
  /// the file. Memory that is reserved for them and not touched costs nothing.
  size_t Expected() const;
  int64_t rowid() const;
  /// By the column's place in the list.
  bool HasColumn(size_t column) const { return place_[column] >= 0; }
  bool IsInt(size_t column) const;
  bool IsText(size_t column) const;
  /// As SQLite converts it; 0 for NULL.
  int64_t Int(size_t column) const;
  /// Valid in its row; empty where it is no text.
  std::string_view Text(size_t column) const;

 private:
  friend struct SqliteRowFunction;

  void TakeRow(sqlite3_value** values);
  void Report() const;

  SqliteDatabase* database_;
  ImportCounters* counters_;
  std::string table_;  // empty where it is not there
  sqlite3_stmt* statement_ = nullptr;
  std::vector<int> place_;  // in the row; -1: the table has no such column
  const std::function<void()>* take_ = nullptr;
  sqlite3_value** values_ = nullptr;
  uint64_t rows_ = 0;
  std::exception_ptr thrown_;
};

}  // namespace inferdiff
