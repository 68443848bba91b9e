// SPDX-License-Identifier: Apache-2.0
// Any bytes as a database, for one of the readers of databases: read, or
// refused, and with the same result the second time.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../unit/trace_text.h"
#include "base/error.h"
#include "readers/sqlite_database.h"

namespace inferdiff {

using ReadDatabase = void (*)(SqliteDatabase* database, SourceFile* file);

inline std::string OutcomeOf(const InputFile& input, ReadDatabase read) {
  SourceFile file;
  try {
    SqliteDatabase database(input, Compression::kPlain, {});
    read(&database, &file);
    return TextOf(file);
  } catch (const InputError& error) {
    return error.id;
  }
}

inline int FuzzDatabase(const uint8_t* data, size_t size, ReadDatabase read) {
  if (size == 0) return 0;
  const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  if (descriptor < 0 ||
      write(descriptor, data, size) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const InputFile input("fuzz", descriptor, size);
  const std::string first = OutcomeOf(input, read);
  const std::string second = OutcomeOf(input, read);
  if (first != second) {
    std::fprintf(stderr, "first:\n%s\nthen:\n%s\n", first.c_str(),
                 second.c_str());
    std::abort();
  }
  return 0;
}

}  // namespace inferdiff
