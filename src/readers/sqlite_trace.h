// SPDX-License-Identifier: Apache-2.0
// Traces in SQLite: which profiler's the tables are, and on to its reader.
#pragma once

#include <string_view>

#include "base/byte_source.h"
#include "base/input_file.h"
#include "model/trace.h"
#include "readers/reader.h"

namespace inferdiff {

/// By the first bytes, decoded.
bool SniffSqlite(std::string_view head);

/// Throws InputError "unknown-database" naming the tables found, and what
/// SqliteDatabase and the readers throw.
SourceFile ReadSqlite(const InputFile& file, Compression compression,
                      const ReadOptions& options);

}  // namespace inferdiff
