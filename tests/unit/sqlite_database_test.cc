// SPDX-License-Identifier: Apache-2.0
#include "readers/sqlite_database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/unpacked_file.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

class SqliteDatabaseTest : public testing::Test {
 protected:
  SqliteDatabaseTest()
      : folder_(fs::temp_directory_path() /
                ("sqlite_database_test_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~SqliteDatabaseTest() override { fs::remove_all(folder_); }

  std::string path() const { return folder_ / "a.db"; }

  void Make(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message),
              SQLITE_OK)
        << message;
    sqlite3_close(database);
  }

  std::string Bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void Write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
  }

  /// The ids of table t, or the id of the error.
  std::string ReadIds(ImportCounters* counters) const {
    try {
      const InputFile file(path());
      SqliteDatabase database(file, Compression::kPlain, {});
      std::string text;
      SqliteRows rows(&database, "t", {"id"}, counters);
      rows.ForEach([&] {
        if (text.size() < 1000) text += std::to_string(rows.Int(0)) + " ";
      });
      return text;
    } catch (const InputError& error) {
      return error.id;
    }
  }

  fs::path folder_;
};

constexpr char kThousandRows[] =
    "CREATE TABLE t (id INTEGER, text TEXT);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 1000) INSERT INTO t SELECT i, 'some text' FROM n;";

TEST_F(SqliteDatabaseTest, ReadsInTheOrderOfRowsWhateverIndexThereIs) {
  Make(
      "CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (3), (1), (2);"
      "CREATE INDEX i ON t (id); ANALYZE;");
  ImportCounters counters;
  EXPECT_EQ(ReadIds(&counters), "3 1 2 ");
}

TEST_F(SqliteDatabaseTest, KnowsStoredTablesAndTheirColumnsOnly) {
  Make(
      "CREATE TABLE t (id INTEGER, twice INTEGER AS (id * 2)); "
      "CREATE VIEW v AS SELECT * FROM t;"
      "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;");
  const InputFile file(path());
  SqliteDatabase database(file, Compression::kPlain, {});
  EXPECT_EQ(database.tables().size(), 1U);
  EXPECT_EQ(database.ColumnsOf("t").size(), 1U);
  ImportCounters counters;
  SqliteRows none(&database, "v", {"id"}, &counters);
  none.ForEach([] { ADD_FAILURE(); });
}

TEST_F(SqliteDatabaseTest, TellsTypesApart) {
  Make(
      "CREATE TABLE t (id, text); INSERT INTO t VALUES (7, 'a'), (NULL, NULL), "
      "('8', x'61'), (2.5, 9);");
  const InputFile file(path());
  SqliteDatabase database(file, Compression::kPlain, {});
  ImportCounters counters;
  SqliteRows rows(&database, "t", {"id", "text", "missing"}, &counters);
  std::string seen;
  rows.ForEach([&] {
    seen += rows.IsInt(0) ? "int " : "other ";
    seen += std::string(rows.Text(1)) + ";";
    EXPECT_FALSE(rows.IsInt(2));
    EXPECT_EQ(rows.Int(2), 0);
    EXPECT_NE(rows.Text(1).data(), nullptr);
  });
  EXPECT_EQ(seen, "int a;other ;other ;other ;");
}

TEST_F(SqliteDatabaseTest, EndsWhereTheTakerThrows) {
  Make(kThousandRows);
  const InputFile file(path());
  SqliteDatabase database(file, Compression::kPlain, {});
  ImportCounters counters;
  SqliteRows rows(&database, "t", {"id"}, &counters);
  int seen = 0;
  EXPECT_THROW(rows.ForEach([&] {
    if (++seen == 3) throw InputError("too-many-devices", "", "", "");
  }),
               InputError);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(counters[Counter::kDamagedTable], 0U);
}

TEST_F(SqliteDatabaseTest, KeepsWhatCameBeforeADamagedPage) {
  Make(kThousandRows);
  std::string bytes = Bytes();
  constexpr size_t kPage = 4096;
  ASSERT_GT(bytes.size(), 5 * kPage);
  bytes.replace(4 * kPage, 8, std::string(8, '\x77'));  // some leaf's head
  Write(bytes);
  ImportCounters counters;
  const std::string ids = ReadIds(&counters);
  EXPECT_EQ(ids.substr(0, 6), "1 2 3 ");
  EXPECT_EQ(counters[Counter::kDamagedTable], 1U);
}

// The row id of such a row stands in memory behind the page: an address.
TEST_F(SqliteDatabaseTest, ReadsNoRowThatBeginsAtTheEndOfItsPage) {
  Make(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);"
      "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');");
  constexpr size_t kPage = 4096;
  constexpr size_t kSecondPointer = kPage + 8 + 2;
  std::string bytes = Bytes();
  ASSERT_EQ(bytes.size(), 2 * kPage);
  Write(bytes.replace(kSecondPointer, 2, "\x0f\xff"));
  const InputFile file(path());
  SqliteDatabase database(file, Compression::kPlain, {});
  for (int times = 0; times < 3; ++times) {
    ImportCounters counters;
    SqliteRows rows(&database, "t", {"id"}, &counters);
    rows.ForEach([&] { ADD_FAILURE() << rows.Int(0); });
    EXPECT_EQ(counters[Counter::kDamagedTable], 1U);
  }
}

TEST_F(SqliteDatabaseTest, RefusesWhatIsShorterThanItSays) {
  Make(kThousandRows);
  Write(Bytes().substr(0, 9000));
  ImportCounters counters;
  EXPECT_EQ(ReadIds(&counters), "truncated-database");
}

TEST_F(SqliteDatabaseTest, RefusesAHeaderWithoutPages) {
  Make(kThousandRows);
  Write(Bytes().replace(40, 4, std::string(4, '\xff')));  // schema cookie: fine
  ImportCounters counters;
  EXPECT_EQ(ReadIds(&counters).substr(0, 2), "1 ");
  Write(Bytes().replace(100, 8, std::string(8, '\xff')));  // page 1's own head
  EXPECT_EQ(ReadIds(&counters), "bad-database");
}

TEST_F(SqliteDatabaseTest, RefusesAJournalThatWasNotClosed) {
  Make(kThousandRows);
  std::ofstream(path() + "-journal") << "\xd9\xd5\x05\xf9";
  ImportCounters counters;
  EXPECT_EQ(ReadIds(&counters), "database-in-use");
  std::ofstream(path() + "-journal", std::ios::binary) << std::string(8, '\0');
  EXPECT_EQ(ReadIds(&counters).substr(0, 2), "1 ");
}

TEST_F(SqliteDatabaseTest, ReadsWhatAWriteAheadLogWasMergedInto) {
  Make(std::string("PRAGMA journal_mode = WAL;") + kThousandRows);
  fs::remove(path() + "-wal");
  fs::remove(path() + "-shm");
  EXPECT_EQ(Bytes()[18], 2);
  ImportCounters counters;
  EXPECT_EQ(ReadIds(&counters).substr(0, 2), "1 ");
  EXPECT_FALSE(fs::exists(path() + "-wal"));
  EXPECT_FALSE(fs::exists(path() + "-shm"));
}

/// An inner page of a table with `children` pointers to one page.
std::string InnerPage(uint32_t child, int children) {
  std::string page(4096, '\0');
  const auto put = [&page](size_t at, uint32_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      page[at + i] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
  };
  put(0, 5, 1);
  put(3, static_cast<uint32_t>(children), 2);
  put(8, child, 4);
  size_t at = page.size();
  for (int i = 0; i < children; ++i) {
    at -= 5;
    put(at, child, 4);
    put(at + 4, static_cast<uint32_t>(i % 100 + 1), 1);
    put(12 + 2 * static_cast<size_t>(i), static_cast<uint32_t>(at), 2);
  }
  put(5, static_cast<uint32_t>(at), 2);
  return page;
}

// Ten pages, each with 500 pointers to the next: 500^9 rows in 40 kB.
TEST_F(SqliteDatabaseTest, EndsWherePagesAreReachedAgainAndAgain) {
  Make("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1), (2);");
  std::string bytes = Bytes();
  ASSERT_EQ(bytes.size(), 2U * 4096);
  const std::string leaf = bytes.substr(4096);
  bytes.resize(4096);
  for (uint32_t page = 2; page < 11; ++page) bytes += InnerPage(page + 1, 500);
  bytes += leaf;
  bytes[31] = 11;  // the number of pages
  Write(bytes);
  ImportCounters counters;
  EXPECT_EQ(ReadIds(&counters), "bad-database");
}

int64_t EntriesIn(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder),
                       fs::directory_iterator());
}

TEST_F(SqliteDatabaseTest, UnpacksIntoAFileWithoutAName) {
  Write(std::string(100'000, 'x'));
  const InputFile original(path());
  setenv("TMPDIR", folder_.c_str(), 1);
  const auto source = OpenPlain(original, 0);
  const auto unpacked = Unpack(source.get(), original, 100'000);
  EXPECT_EQ(unpacked->size(), 100'000U);
  EXPECT_EQ(unpacked->path(), path());
  char last = '\0';
  EXPECT_EQ(unpacked->ReadAt(99'999, &last, 1), 1U);
  EXPECT_EQ(last, 'x');
  EXPECT_EQ(EntriesIn(folder_), 1);
  const auto again = OpenPlain(original, 0);
  EXPECT_THROW(Unpack(again.get(), original, 99'999), InputError);
  EXPECT_EQ(EntriesIn(folder_), 1);
  setenv("TMPDIR", (folder_ / "missing").c_str(), 1);
  EXPECT_THROW(Unpack(again.get(), original, 100'000), InputError);
  unsetenv("TMPDIR");
}

}  // namespace
}  // namespace inferdiff
