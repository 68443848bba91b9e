// SPDX-License-Identifier: Apache-2.0
// SQLite's view of an InputFile: one file that never changes.
//
// SQLite opens files by name and looks for journals beside them. Here it gets
// the bytes of a file that is open already, also of one without a name, and
// nothing else on the disk is touched, read or created.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/input_file.h"

struct sqlite3_vfs;

namespace inferdiff {

class SqliteFile {
 public:
  /// `file` must outlive this, and this every database opened through it.
  explicit SqliteFile(const InputFile* file);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  /// For sqlite3_open_v2; the name of the file does not matter there.
  const char* vfs_name() const;
  /// Bytes that SQLite asked for.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  friend struct SqliteFileMethods;

  /// As InputFile::ReadAt; a page behind the last one comes with many more.
  size_t Read(uint64_t offset, char* to, size_t wanted);

  const InputFile* file_;
  uint64_t bytes_read_ = 0;
  uint64_t next_ = 0;  // where the last page ended
  uint64_t block_begin_ = 0;
  size_t block_size_ = 0;
  std::vector<char> block_;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace inferdiff
