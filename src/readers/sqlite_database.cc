// SPDX-License-Identifier: Apache-2.0
#include "readers/sqlite_database.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/crc32.h"
#include "base/parallel.h"
#include "base/unpacked_file.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

/// A row takes more bytes than this in its page; pages that are reached twice,
/// or in a circle, are the only way to more rows.
constexpr uint64_t kLeastRow = 8;
/// Steps of SQLite's machine between two calls of the handler. A row takes one
/// a column and some more, which 8 a byte exceed by far.
constexpr int kStepsPerCall = 10'000;
constexpr uint64_t kStepsPerByte = 8;
constexpr uint64_t kFreeSteps = 1'000'000;

uint32_t BigEndian(const unsigned char* bytes, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

/// Of a file that begins as its header says; 0 when the header does not say.
uint64_t SizeByHeader(const InputFile& file) {
  unsigned char header[100] = {};
  file.ReadAt(0, reinterpret_cast<char*>(header), sizeof(header));
  const uint32_t changes = BigEndian(header + 24, 4);
  const uint32_t changes_at_size = BigEndian(header + 92, 4);
  if (changes != changes_at_size) return 0;
  const uint32_t page = BigEndian(header + 16, 2);
  return uint64_t{page == 1 ? 65536 : page} * BigEndian(header + 28, 4);
}

void CheckWhole(const InputFile& file, bool cut) {
  const uint64_t size = SizeByHeader(file);
  if (!cut && file.size() >= size) return;
  throw InputError(
      "truncated-database", file.path(),
      size > file.size()
          ? fmt::format("the database ends after {} of {} bytes", file.size(),
                        size)
          : "the compressed database ends in the middle or is damaged",
      "copy it again; an interrupted export is made again with nsys export or "
      "rocprofv3");
}

/// What a killed or running writer leaves beside its database holds rows that
/// the database does not.
void CheckUnused(const std::string& path) {
  for (const char* const ending : {"-wal", "-journal"}) {
    std::error_code error;
    const std::string beside = path + ending;
    if (!fs::is_regular_file(beside, error)) continue;
    if (fs::file_size(beside, error) == 0 || error) continue;
    char first = '\0';
    InputFile(beside).ReadAt(0, &first, 1);
    if (first == '\0') continue;  // a journal that is over
    throw InputError("database-in-use", path,
                     fmt::format("the database was not closed: {} has changes "
                                 "that are not in it",
                                 beside),
                     fmt::format("wait for its writer to end, or finish for "
                                 "it: sqlite3 {} 'pragma "
                                 "journal_mode=delete; select 1'",
                                 path));
  }
}

uint32_t CrcOf(const InputFile& file) {
  std::vector<char> block(size_t{1} << 18);
  uint32_t crc = 0;
  uint64_t offset = 0;
  for (size_t got = block.size(); got == block.size(); offset += got) {
    got = file.ReadAt(offset, block.data(), block.size());
    crc = Crc32(crc, block.data(), got);
  }
  return crc;
}

std::string Quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

/// The expression for "a|b|c", of those that are known; empty for none.
std::string ColumnSql(std::string_view names,
                      const std::set<std::string, std::less<>>& known) {
  std::string sql;
  size_t count = 0;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find('|'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (known.find(name) == known.end()) continue;
    sql += (count++ == 0 ? "" : ", ") + Quoted(name);
  }
  return count > 1 ? "coalesce(" + sql + ")" : sql;
}

constexpr char kRowFunction[] = "inferdiff_row";

}  // namespace

/// What SQLite calls with each row: no exception may pass.
struct SqliteRowFunction {
  static void Step(sqlite3_context* context, int, sqlite3_value** values) {
    SqliteRows* const rows =
        static_cast<SqliteDatabase*>(sqlite3_user_data(context))->rows_;
    try {
      rows->TakeRow(values);
    } catch (...) {
      rows->thrown_ = std::current_exception();
      sqlite3_result_error_code(context, SQLITE_ABORT);
    }
  }
  static void Final(sqlite3_context* context) { sqlite3_result_null(context); }

  static void Register(sqlite3* database, SqliteDatabase* self) {
    sqlite3_create_function_v2(database, kRowFunction, -1,
                               SQLITE_UTF8 | SQLITE_DIRECTONLY, self, nullptr,
                               Step, Final, nullptr);
  }
};

InputError SqliteDatabase::Bad(const std::string& what) const {
  return InputError("bad-database", path_,
                    "SQLite cannot read the database: " + what,
                    "copy or export it again; `sqlite3 FILE 'pragma "
                    "integrity_check'` says what is damaged");
}

SqliteDatabase::SqliteDatabase(const InputFile& file, Compression compression,
                               const ReadOptions& options)
    : path_(file.path()), file_(&file), options_(options) {
  if (compression == Compression::kPlain) {
    CheckUnused(path_);
    CheckWhole(file, false);
    const bool alone = ThreadCount(options.threads) == 1;
    crc32_ = std::async(alone ? std::launch::deferred
                              : std::launch::async | std::launch::deferred,
                        [&file] { return CrcOf(file); });
  } else {
    const auto source = OpenCompressed(file, compression);
    unpacked_ = Unpack(source.get(), file, MostUnpacked(file.size()));
    file_ = unpacked_.get();
    CheckWhole(*file_, source->truncated() || source->corrupt());
    const uint32_t crc = source->DiskCrc32();
    crc32_ = std::async(std::launch::deferred, [crc] { return crc; });
  }
  Open();
}

SqliteDatabase::SqliteDatabase(const SqliteDatabase* other)
    : path_(other->path_), file_(other->file_) {
  Open();
}

void SqliteDatabase::Open() {
  handle_ = std::make_unique<SqliteFile>(file_);
  const int opened = sqlite3_open_v2(
      "database", &database_,
      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
      handle_->vfs_name());
  try {
    if (opened != SQLITE_OK) throw Bad(sqlite3_errstr(opened));
    Configure();
    ReadTables();
  } catch (...) {
    sqlite3_close_v2(database_);
    throw;
  }
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(database_); }

void SqliteDatabase::Configure() {
  SqliteRowFunction::Register(database_, this);
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1),
        std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0)}) {
    sqlite3_db_config(database_, option, value, nullptr);
  }
  // Without it SQLite reads on behind a page whose last row does not end in it,
  // in what memory holds there: addresses, which differ from run to run.
  sqlite3_exec(database_, "PRAGMA cell_size_check = on", nullptr, nullptr,
               nullptr);
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database_, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_limit(database_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50);
  sqlite3_progress_handler(
      database_, kStepsPerCall,
      [](void* self) {
        auto* const database = static_cast<SqliteDatabase*>(self);
        const uint64_t most =
            kFreeSteps + database->file_->size() * kStepsPerByte;
        return ++database->work_ > most / kStepsPerCall ? 1 : 0;
      },
      this);
}

sqlite3_stmt* SqliteDatabase::Prepare(const std::string& sql) {
  work_ = 0;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) !=
      SQLITE_OK) {
    const std::string message = sqlite3_errmsg(database_);
    sqlite3_finalize(statement);
    throw Bad(message);
  }
  return statement;
}

void SqliteDatabase::ReadTables() {
  // A virtual table has no root page.
  sqlite3_stmt* const statement = Prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
      "rootpage > 0 AND name NOT GLOB 'sqlite_*'");
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const auto* const name = sqlite3_column_text(statement, 0);
    if (name != nullptr) tables_.insert(reinterpret_cast<const char*>(name));
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) throw Bad(sqlite3_errmsg(database_));
}

std::set<std::string, std::less<>> SqliteDatabase::ColumnsOf(
    std::string_view table) {
  std::set<std::string, std::less<>> columns;
  sqlite3_stmt* const statement =
      Prepare("SELECT name FROM pragma_table_info(?)");
  sqlite3_bind_text(statement, 1, table.data(), static_cast<int>(table.size()),
                    SQLITE_STATIC);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    const auto* const name = sqlite3_column_text(statement, 0);
    if (name != nullptr) columns.insert(reinterpret_cast<const char*>(name));
  }
  sqlite3_finalize(statement);
  return columns;
}

SqliteRows::SqliteRows(SqliteDatabase* database, std::string_view table,
                       std::initializer_list<std::string_view> columns,
                       ImportCounters* counters)
    : database_(database), counters_(counters) {
  place_.assign(columns.size(), -1);
  if (!database->HasTable(table)) return;
  table_ = table;
  const auto known = database->ColumnsOf(table);
  std::string sql = "SELECT " + std::string(kRowFunction) + "(rowid";
  int next = 1;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string column = ColumnSql(columns.begin()[i], known);
    if (column.empty()) continue;
    place_[i] = next++;
    sql += ", " + column;
  }
  // An index that has all these columns would give another order.
  statement_ =
      database->Prepare(sql + ") FROM " + Quoted(table) + " NOT INDEXED");
}

SqliteRows::~SqliteRows() { sqlite3_finalize(statement_); }

void SqliteRows::TakeRow(sqlite3_value** values) {
  constexpr uint64_t kReport = 4096;
  if (++rows_ % kReport == 0) Report();
  values_ = values;
  (*take_)();
}

void SqliteRows::Report() const {
  if (rows_ > database_->file_->size() / kLeastRow) {
    throw database_->Bad("a table has more rows than fit into the file");
  }
  if (!database_->options_.progress) return;
  const auto size = static_cast<double>(database_->file_->size());
  const auto read = static_cast<double>(database_->handle_->bytes_read());
  database_->options_.progress(std::min(read / size, 1.0));
}

void SqliteRows::ForEach(const std::function<void()>& take) {
  if (statement_ == nullptr) return;
  take_ = &take;
  SqliteRows* const outer = std::exchange(database_->rows_, this);
  const int code = sqlite3_step(statement_);  // through all rows
  database_->rows_ = outer;
  if (thrown_) std::rethrow_exception(thrown_);
  if (code == SQLITE_INTERRUPT) {
    throw database_->Bad("a table takes more work than its size explains");
  }
  if (code == SQLITE_ROW) return;
  counters_->Add(Counter::kDamagedTable);
  // SQLite trusts a page in its cache, also one that it found damaged.
  sqlite3_reset(statement_);
  sqlite3_db_release_memory(database_->database_);
}

size_t SqliteRows::Expected() const {
  if (table_.empty()) return 0;
  sqlite3_stmt* statement = nullptr;
  int64_t largest = 0;
  const std::string sql = "SELECT max(rowid) FROM " + Quoted(table_);
  if (sqlite3_prepare_v2(database_->database_, sql.c_str(), -1, &statement,
                         nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    largest = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  // As behind damage: the rows themselves must meet it anew.
  sqlite3_db_release_memory(database_->database_);
  constexpr uint64_t kUsualRow = 32;  // bytes; shorter ones grow by doubling
  const uint64_t fit = database_->file_->size() / kUsualRow;
  return static_cast<size_t>(
      std::clamp<int64_t>(largest, 0, static_cast<int64_t>(fit)));
}

int64_t SqliteRows::rowid() const { return sqlite3_value_int64(values_[0]); }

bool SqliteRows::IsInt(size_t column) const {
  return place_[column] >= 0 &&
         sqlite3_value_type(values_[place_[column]]) == SQLITE_INTEGER;
}

bool SqliteRows::IsText(size_t column) const {
  return place_[column] >= 0 &&
         sqlite3_value_type(values_[place_[column]]) == SQLITE_TEXT;
}

int64_t SqliteRows::Int(size_t column) const {
  return place_[column] < 0 ? 0 : sqlite3_value_int64(values_[place_[column]]);
}

std::string_view SqliteRows::Text(size_t column) const {
  if (!IsText(column)) return "";
  sqlite3_value* const value = values_[place_[column]];
  const auto* const text = sqlite3_value_text(value);
  if (text == nullptr) return "";
  const int size = sqlite3_value_bytes(value);
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}

}  // namespace inferdiff
