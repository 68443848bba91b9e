// SPDX-License-Identifier: Apache-2.0
#include "readers/rocpd_tables.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "readers/json_text.h"

namespace inferdiff {
namespace {

int64_t IdOf(const SqliteRows& rows, size_t column) {
  return rows.IsInt(column) ? rows.Int(column) : RocpdPlace::kUnknown;
}

/// Extra data is JSON of the profiler's; what is none says nothing.
nlohmann::json Parsed(std::string_view text) {
  constexpr size_t kMost = size_t{1} << 20;
  if (text.size() > kMost) return {};
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_object() ? parsed : nlohmann::json();
}

/// The text of a marker in its event's extra data.
NameId MessageOf(std::string_view text, TraceSink* sink) {
  const nlohmann::json data = Parsed(text);
  const auto message = data.find("message");
  return message != data.end() && message->is_string()
             ? sink->Name(message->get_ref<const std::string&>())
             : kNone;
}

/// Of a variable of the environment, whose values are strings.
std::optional<int64_t> SettingOf(const nlohmann::json& environment,
                                 const char* first, const char* second) {
  constexpr int64_t kMostRanks = 1'000'000;
  for (const char* const name : {first, second}) {
    const auto found = environment.find(name);
    if (found == environment.end() || !found->is_string()) continue;
    const std::string& text = found->get_ref<const std::string&>();
    int64_t value = -1;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() &&
        value >= 0 && value <= kMostRanks) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

SqliteNumbers::SqliteNumbers(SqliteDatabase* database, std::string_view table,
                             std::string_view id, std::string_view value,
                             ImportCounters* counters)
    : index_(IdTable(Load(database, table, id, value, counters))) {}

/// Fills values_; returns their ids.
std::vector<int64_t> SqliteNumbers::Load(SqliteDatabase* database,
                                         std::string_view table,
                                         std::string_view id,
                                         std::string_view value,
                                         ImportCounters* counters) {
  std::vector<int64_t> ids;
  SqliteRows rows(database, table, {id, value}, counters);
  rows.ForEach([&] {
    if (!rows.IsInt(0) || !rows.IsInt(1)) return;
    ids.push_back(rows.Int(0));
    values_.push_back(rows.Int(1));
  });
  return ids;
}

std::optional<int64_t> SqliteNumbers::Find(int64_t id) const {
  const uint32_t at = index_.Find(id);
  if (at == kNone) return std::nullopt;
  return values_[at];
}

RocpdEvents::RocpdEvents(SqliteDatabase* database, const std::string& suffix,
                         const SqliteStrings& strings, TraceSink* sink,
                         ImportCounters* counters)
    : index_(IdTable(Load(database, suffix, strings, sink, counters))) {}

/// Fills the columns; returns the ids of the events.
std::vector<int64_t> RocpdEvents::Load(SqliteDatabase* database,
                                       const std::string& suffix,
                                       const SqliteStrings& strings,
                                       TraceSink* sink,
                                       ImportCounters* counters) {
  // Newer files have a table for categories of their own.
  const std::string table = "rocpd_info_category" + suffix;
  const SqliteStrings own(database, table, "id", "name", counters);
  const SqliteStrings& categories = database->HasTable(table) ? own : strings;
  std::map<int64_t, bool> is_marker;
  std::vector<int64_t> ids;
  SqliteRows rows(database, "rocpd_event" + suffix,
                  {"id", "stack_id", "category_id", "extdata"}, counters);
  rows.ForEach([&] {
    const auto [category, fresh] = is_marker.emplace(rows.Int(2), false);
    if (fresh) {
      const auto name = categories.Text(rows.Int(2));
      category->second = name && name->substr(0, 11) == "MARKER_CORE";
    }
    ids.push_back(rows.Int(0));
    correlation_.push_back(rows.Int(1));
    marker_.push_back(category->second ? MessageOf(rows.Text(3), sink) : kNone);
  });
  return ids;
}

int64_t RocpdEvents::CorrelationOf(int64_t event) const {
  const uint32_t at = index_.Find(event);
  return at == kNone ? 0 : correlation_[at];
}

NameId RocpdEvents::MarkerOf(int64_t event) const {
  const uint32_t at = index_.Find(event);
  return at == kNone ? kNone : marker_[at];
}

std::map<int64_t, RocpdAgent> ReadRocpdAgents(SqliteDatabase* database,
                                              const std::string& suffix,
                                              ImportCounters* counters) {
  std::map<int64_t, RocpdAgent> agents;
  SqliteRows rows(database, "rocpd_info_agent" + suffix,
                  {"id", "type", "absolute_index", "product_name", "model_name",
                   "name", "extdata"},
                  counters);
  rows.ForEach([&] {
    RocpdAgent agent;
    agent.is_gpu = rows.Text(1) == "GPU";
    agent.number = rows.IsInt(2) ? rows.Int(2) : rows.Int(0);
    for (const size_t column : {3U, 4U, 5U}) {
      if (agent.name.empty()) agent.name = RepairText(rows.Text(column)).text;
    }
    const nlohmann::json data = Parsed(rows.Text(6));
    const auto count = data.find("cu_count");
    if (count != data.end() && count->is_number_integer())
      agent.cu_count = count->get<int64_t>();
    agents.emplace(rows.Int(0), std::move(agent));
  });
  return agents;
}

std::map<int64_t, RocpdProcess> ReadRocpdProcesses(SqliteDatabase* database,
                                                   const std::string& suffix,
                                                   ImportCounters* counters) {
  std::map<int64_t, RocpdProcess> processes;
  SqliteRows rows(database, "rocpd_info_process" + suffix,
                  {"id", "pid", "environment"}, counters);
  rows.ForEach([&] {
    RocpdProcess process;
    process.pid = rows.IsInt(1) ? rows.Int(1) : rows.Int(0);
    const nlohmann::json environment = Parsed(rows.Text(2));
    process.rank = SettingOf(environment, "RANK", "OMPI_COMM_WORLD_RANK");
    process.world_size =
        SettingOf(environment, "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE");
    processes.emplace(rows.Int(0), process);
  });
  return processes;
}

std::map<int64_t, RocpdPlace> ReadRocpdTracks(SqliteDatabase* database,
                                              const std::string& suffix,
                                              ImportCounters* counters) {
  std::map<int64_t, RocpdPlace> tracks;
  SqliteRows rows(database, "rocpd_track" + suffix,
                  {"id", "pid", "tid", "agent_id", "queue_id", "stream_id"},
                  counters);
  rows.ForEach([&] {
    tracks.emplace(rows.Int(0),
                   RocpdPlace{IdOf(rows, 1), IdOf(rows, 2), IdOf(rows, 3),
                              IdOf(rows, 4), IdOf(rows, 5)});
  });
  return tracks;
}

}  // namespace inferdiff
