// SPDX-License-Identifier: Apache-2.0
#include "readers/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "base/error.h"

namespace inferdiff {

/// What SQLite calls. Errors are numbers there: no exception may pass.
struct SqliteFileMethods {
  struct OpenFile {
    sqlite3_file base;
    SqliteFile* file;
  };

  static int Close(sqlite3_file*) { return SQLITE_OK; }

  static int Read(sqlite3_file* handle, void* to, int amount,
                  sqlite3_int64 offset) {
    SqliteFile* const file = reinterpret_cast<OpenFile*>(handle)->file;
    const auto wanted = static_cast<size_t>(amount);
    size_t got = 0;
    try {
      got = file->Read(static_cast<uint64_t>(offset), static_cast<char*>(to),
                       wanted);
    } catch (const InputError&) {
      return SQLITE_IOERR_READ;
    }
    file->bytes_read_ += got;
    if (got == wanted) return SQLITE_OK;
    std::memset(static_cast<char*>(to) + got, 0, wanted - got);
    return SQLITE_IOERR_SHORT_READ;
  }

  static int Write(sqlite3_file*, const void*, int, sqlite3_int64) {
    return SQLITE_READONLY;
  }
  static int Truncate(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
  static int Sync(sqlite3_file*, int) { return SQLITE_OK; }

  static int FileSize(sqlite3_file* handle, sqlite3_int64* size) {
    const SqliteFile* const file = reinterpret_cast<OpenFile*>(handle)->file;
    *size = static_cast<sqlite3_int64>(file->file_->size());
    return SQLITE_OK;
  }

  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int CheckReservedLock(sqlite3_file*, int* reserved) {
    *reserved = 0;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return 4096; }
  // So SQLite asks for no lock, no journal and no write-ahead log.
  static int Characteristics(sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; }

  static int Open(sqlite3_vfs* vfs, const char*, sqlite3_file* handle,
                  int flags, int* out_flags) {
    static const sqlite3_io_methods kMethods = {1,
                                                Close,
                                                Read,
                                                Write,
                                                Truncate,
                                                Sync,
                                                FileSize,
                                                Lock,
                                                Lock,
                                                CheckReservedLock,
                                                FileControl,
                                                SectorSize,
                                                Characteristics,
                                                nullptr,
                                                nullptr,
                                                nullptr,
                                                nullptr,
                                                nullptr,
                                                nullptr};
    handle->pMethods = nullptr;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
    handle->pMethods = &kMethods;
    reinterpret_cast<OpenFile*>(handle)->file =
        static_cast<SqliteFile*>(vfs->pAppData);
    if (out_flags != nullptr) *out_flags = SQLITE_OPEN_READONLY;
    return SQLITE_OK;
  }

  static int Delete(sqlite3_vfs*, const char*, int) { return SQLITE_READONLY; }
  static int Access(sqlite3_vfs*, const char*, int, int* exists) {
    *exists = 0;
    return SQLITE_OK;
  }
  static int FullPathname(sqlite3_vfs*, const char* name, int size, char* to) {
    sqlite3_snprintf(size, to, "%s", name);
    return SQLITE_OK;
  }
  static int Randomness(sqlite3_vfs*, int size, char* to) {
    std::memset(to, 0, static_cast<size_t>(size));
    return size;
  }
  static int Sleep(sqlite3_vfs*, int) { return 0; }
  static int CurrentTime(sqlite3_vfs*, double* now) {
    *now = 0;
    return SQLITE_OK;
  }
  static int GetLastError(sqlite3_vfs*, int, char*) { return 0; }
};

size_t SqliteFile::Read(uint64_t offset, char* to, size_t wanted) {
  constexpr size_t kBlock = 64 * 1024;
  const auto is_there = [&] {
    return offset >= block_begin_ && offset - block_begin_ < block_size_ &&
           wanted <= block_size_ - (offset - block_begin_);
  };
  const bool follows = offset == next_ && offset != 0;
  next_ = offset + wanted;
  if (!is_there() && follows && wanted < kBlock) {
    block_.resize(kBlock);
    block_size_ = 0;  // should reading fail
    block_size_ = file_->ReadAt(offset, block_.data(), kBlock);
    block_begin_ = offset;
  }
  if (!is_there()) return file_->ReadAt(offset, to, wanted);
  std::memcpy(to, block_.data() + (offset - block_begin_), wanted);
  return wanted;
}

SqliteFile::SqliteFile(const InputFile* file)
    : file_(file), vfs_(std::make_unique<sqlite3_vfs>()) {
  name_ = fmt::format("inferdiff-{}", fmt::ptr(this));
  vfs_->iVersion = 1;
  vfs_->szOsFile = sizeof(SqliteFileMethods::OpenFile);
  vfs_->mxPathname = 64;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = SqliteFileMethods::Open;
  vfs_->xDelete = SqliteFileMethods::Delete;
  vfs_->xAccess = SqliteFileMethods::Access;
  vfs_->xFullPathname = SqliteFileMethods::FullPathname;
  vfs_->xRandomness = SqliteFileMethods::Randomness;
  vfs_->xSleep = SqliteFileMethods::Sleep;
  vfs_->xCurrentTime = SqliteFileMethods::CurrentTime;
  vfs_->xGetLastError = SqliteFileMethods::GetLastError;
  sqlite3_vfs_register(vfs_.get(), 0);
}

SqliteFile::~SqliteFile() { sqlite3_vfs_unregister(vfs_.get()); }

const char* SqliteFile::vfs_name() const { return name_.c_str(); }

}  // namespace inferdiff
