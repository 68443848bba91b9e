// SPDX-License-Identifier: Apache-2.0
// A database's table of strings: other tables have numbers for names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "readers/host_calls.h"
#include "readers/id_table.h"
#include "readers/sqlite_database.h"
#include "readers/trace_sink.h"

namespace inferdiff {

class SqliteStrings {
 public:
  /// Reads all of `table`; where `id` is no number the row id is taken.
  SqliteStrings(SqliteDatabase* database, std::string_view table,
                std::string_view id, std::string_view text,
                ImportCounters* counters);

  /// The place of a string among all of them, kNone: no such string. From any
  /// thread.
  uint32_t Find(int64_t id) const { return index_.Find(id); }
  std::string_view TextAt(uint32_t place) const { return entries_[place].text; }
  size_t size() const { return entries_.size(); }
  /// nullopt: no such string.
  std::optional<std::string_view> Text(int64_t id) const;
  /// The string as a name of the sink; kNone: no such string.
  NameId Name(int64_t id, TraceSink* sink);

  struct HostCall {
    NameUse use;
    NameId name = kNone;  // without the version of its interface
  };
  /// The string as that of a function; an unknown one is not kept.
  HostCall CallOf(int64_t id, TraceSink* sink);
  HostCall CallAt(uint32_t place, TraceSink* sink);

 private:
  struct Entry {
    std::string_view text;  // in pool_
    NameId name = kNone;    // in the sink, once it was asked for
    bool call_known = false;
    HostCall call;
  };
  std::vector<int64_t> Load(SqliteDatabase* database, std::string_view table,
                            std::string_view id, std::string_view text,
                            ImportCounters* counters);

  StringPool pool_;
  std::vector<Entry> entries_;
  IdTable index_;  // id -> entry
};

}  // namespace inferdiff
