// SPDX-License-Identifier: Apache-2.0
#include "readers/sqlite_strings.h"

namespace inferdiff {
namespace {

/// "cudaGraphLaunch_v10000" -> "cudaGraphLaunch"; of "cuMemAlloc_v2" that is
/// the name.
std::string_view WithoutVersion(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool versioned = digits != name.npos && digits > 0 &&
                         name.size() - digits > 4 &&
                         name.substr(digits - 1, 2) == "_v";
  return versioned ? name.substr(0, digits - 1) : name;
}

}  // namespace

SqliteStrings::SqliteStrings(SqliteDatabase* database, std::string_view table,
                             std::string_view id, std::string_view text,
                             ImportCounters* counters)
    : index_(IdTable(Load(database, table, id, text, counters))) {}

/// Fills entries_; returns their ids.
std::vector<int64_t> SqliteStrings::Load(SqliteDatabase* database,
                                         std::string_view table,
                                         std::string_view id,
                                         std::string_view text,
                                         ImportCounters* counters) {
  std::vector<int64_t> ids;
  SqliteRows rows(database, table, {id, text}, counters);
  rows.ForEach([&] {
    if (!rows.IsText(1)) return;
    ids.push_back(rows.IsInt(0) ? rows.Int(0) : rows.rowid());
    entries_.push_back({pool_[pool_.Intern(rows.Text(1))], kNone, false, {}});
  });
  return ids;
}

std::optional<std::string_view> SqliteStrings::Text(int64_t id) const {
  const uint32_t place = Find(id);
  if (place == kNone) return std::nullopt;
  return entries_[place].text;
}

NameId SqliteStrings::Name(int64_t id, TraceSink* sink) {
  const uint32_t place = Find(id);
  if (place == kNone) return kNone;
  Entry& entry = entries_[place];
  if (entry.name == kNone) entry.name = sink->Name(entry.text);
  return entry.name;
}

SqliteStrings::HostCall SqliteStrings::CallOf(int64_t id, TraceSink* sink) {
  const uint32_t place = Find(id);
  return place == kNone ? HostCall{} : CallAt(place, sink);
}

SqliteStrings::HostCall SqliteStrings::CallAt(uint32_t place, TraceSink* sink) {
  Entry& entry = entries_[place];
  if (!entry.call_known) {
    entry.call.use = UseOfCall(entry.text);
    if (entry.call.use.kept) {
      entry.call.name = sink->Name(WithoutVersion(entry.text));
    }
    entry.call_known = true;
  }
  return entry.call;
}

}  // namespace inferdiff
