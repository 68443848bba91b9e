// SPDX-License-Identifier: Apache-2.0
#include "readers/rocpd_reader.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/recent_ids.h"
#include "readers/rocpd_tables.h"
#include "readers/sqlite_strings.h"
#include "readers/trace_sink.h"

namespace inferdiff {
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";

struct PlaceKey {
  RocpdPlace place;

  bool operator==(const PlaceKey&) const = default;
  uint64_t Mixed() const {
    uint64_t mixed = 0;
    for (const int64_t part : {place.process, place.thread, place.agent,
                               place.queue, place.stream}) {
      mixed = MixHash(mixed ^ static_cast<uint64_t>(part));
    }
    return mixed;
  }
};

/// The tables of one uuid.
class RocpdRun {
 public:
  /// `number`: of the uuid in the file, 0 the first.
  RocpdRun(SqliteDatabase* database, const std::string& suffix, size_t number,
           TraceSink* sink, ImportCounters* counters)
      : database_(database),
        suffix_(suffix),
        number_(number),
        sink_(sink),
        counters_(counters),
        strings_(database, "rocpd_string" + suffix, "id", "string", counters),
        symbols_(database, "rocpd_info_kernel_symbol" + suffix, "id",
                 "display_name", counters),
        raw_symbols_(database, "rocpd_info_kernel_symbol" + suffix, "id",
                     "kernel_name", counters),
        times_(database, "rocpd_timestamp" + suffix, "id", "value", counters),
        thread_ids_(database, "rocpd_info_thread" + suffix, "id", "tid",
                    counters),
        events_(database, suffix, strings_, sink, counters),
        agents_(ReadRocpdAgents(database, suffix, counters)),
        processes_(ReadRocpdProcesses(database, suffix, counters)),
        tracks_(ReadRocpdTracks(database, suffix, counters)) {}

  void Read();

 private:
  /// Places in the list of columns, the same for every table of events.
  enum Column : size_t {
    kStart,
    kEnd,
    kStartId,
    kEndId,
    kTrack,
    kEvent,
    kProcess,
    kThread,
    kAgent,
    kQueue,
    kStream,
    kFirstOwn
  };
  struct Times {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };

  bool HasStreams();
  void ReadDispatches();
  void ReadCopies();
  void ReadRegions();
  std::optional<Times> TimesOf(const SqliteRows& rows) const;
  RocpdPlace PlaceOf(const SqliteRows& rows) const;
  const RocpdAgent* AgentOf(int64_t id) const;
  NameId KernelName(int64_t id);
  void AddOp(const SqliteRows& rows, const RocpdPlace& place, NameId name,
             OpKind kind);
  uint32_t ProcessOf(int64_t id);
  uint32_t ThreadOf(const RocpdPlace& place);
  uint32_t LaneOf(const RocpdPlace& place, OpKind kind);
  uint32_t DeviceOf(const RocpdPlace& place);

  SqliteDatabase* database_;
  std::string suffix_;
  size_t number_;
  TraceSink* sink_;
  ImportCounters* counters_;
  SqliteStrings strings_;
  SqliteStrings symbols_;
  SqliteStrings raw_symbols_;
  SqliteNumbers times_;
  SqliteNumbers thread_ids_;
  RocpdEvents events_;
  std::map<int64_t, RocpdAgent> agents_;
  std::map<int64_t, RocpdProcess> processes_;
  std::map<int64_t, RocpdPlace> tracks_;
  RecentIds<PlaceKey> kernel_lanes_;
  RecentIds<PlaceKey> copy_lanes_;
  RecentIds<PlaceKey> threads_;
  bool by_stream_ = false;
};

/// Streams are known where HIP was traced; else all work is on stream 0, and
/// queues tell it apart.
bool RocpdRun::HasStreams() {
  SqliteRows rows(database_, "rocpd_info_stream" + suffix_, {"id"}, counters_);
  bool found = false;
  rows.ForEach([&] { found |= rows.Int(0) != 0; });
  return found;
}

std::optional<RocpdRun::Times> RocpdRun::TimesOf(const SqliteRows& rows) const {
  if (rows.IsInt(kStart) && rows.IsInt(kEnd))
    return Times{rows.Int(kStart), rows.Int(kEnd)};
  if (!rows.IsInt(kStartId) || !rows.IsInt(kEndId)) return std::nullopt;
  const auto start = times_.Find(rows.Int(kStartId));
  const auto end = times_.Find(rows.Int(kEndId));
  if (!start || !end) return std::nullopt;
  return Times{*start, *end};
}

RocpdPlace RocpdRun::PlaceOf(const SqliteRows& rows) const {
  RocpdPlace place;
  if (rows.IsInt(kTrack)) {
    const auto track = tracks_.find(rows.Int(kTrack));
    if (track != tracks_.end()) place = track->second;
  }
  const auto take = [&rows](size_t column, int64_t* to) {
    if (rows.IsInt(column)) *to = rows.Int(column);
  };
  take(kProcess, &place.process);
  take(kThread, &place.thread);
  take(kAgent, &place.agent);
  take(kQueue, &place.queue);
  take(kStream, &place.stream);
  return place;
}

const RocpdAgent* RocpdRun::AgentOf(int64_t id) const {
  const auto agent = agents_.find(id);
  return agent == agents_.end() ? nullptr : &agent->second;
}

uint32_t RocpdRun::ProcessOf(int64_t id) {
  const auto process = processes_.find(id);
  const int64_t pid = process == processes_.end() ? id : process->second.pid;
  // Two uuids are two processes, even where their numbers are the same.
  return sink_->Process(pid, number_ == 0
                                 ? fmt::format("{}", pid)
                                 : fmt::format("{} of run {}", pid, number_));
}

uint32_t RocpdRun::ThreadOf(const RocpdPlace& place) {
  return threads_.Get({place}, [this](const PlaceKey& key) {
    const int64_t id = key.place.thread;
    const int64_t tid = thread_ids_.Find(id).value_or(id);
    return sink_->Thread(ProcessOf(key.place.process), tid,
                         fmt::format("{}", tid));
  });
}

uint32_t RocpdRun::DeviceOf(const RocpdPlace& place) {
  const RocpdAgent* const agent = AgentOf(place.agent);
  const uint32_t device = sink_->Device(
      ProcessOf(place.process), agent == nullptr ? place.agent : agent->number);
  TraceInfo& info = sink_->info(device);
  info.vendor = Vendor::kAmd;
  if (agent != nullptr) {
    info.gpu_name = agent->name;
    info.sm_count = agent->cu_count;
  }
  const auto process = processes_.find(place.process);
  if (process != processes_.end()) {
    info.rank = process->second.rank;
    info.world_size = process->second.world_size;
  }
  return device;
}

uint32_t RocpdRun::LaneOf(const RocpdPlace& place, OpKind kind) {
  const bool is_copy = kind == OpKind::kMemcpy;
  RecentIds<PlaceKey>& lanes = is_copy ? copy_lanes_ : kernel_lanes_;
  return lanes.Get({place}, [&](const PlaceKey& key) {
    const uint32_t device = DeviceOf(key.place);
    const int64_t stream = key.place.stream;
    if (by_stream_ && stream != RocpdPlace::kUnknown)
      return sink_->Lane(device, stream, fmt::format("stream {}", stream));
    const int64_t queue = key.place.queue;
    if (queue != RocpdPlace::kUnknown)
      return sink_->Lane(device, queue, fmt::format("queue {}", queue));
    // The copy engines' own, which no queue is known of.
    constexpr int64_t kNoQueue = -1;
    return sink_->Lane(device, kNoQueue, is_copy ? "copies" : "unknown");
  });
}

void RocpdRun::AddOp(const SqliteRows& rows, const RocpdPlace& place,
                     NameId name, OpKind kind) {
  const auto times = TimesOf(rows);
  if (!times) {
    counters_->Add(Counter::kMissingField);
    return;
  }
  if (name == kNone) {
    counters_->Add(Counter::kDanglingName);
    name = sink_->Name(kind == OpKind::kKernel ? "(unnamed kernel)"
                                               : "(unnamed copy)");
  }
  sink_->AddOp(
      {times->start_ns, times->end_ns, events_.CorrelationOf(rows.Int(kEvent)),
       static_cast<uint64_t>(rows.rowid()), name, LaneOf(place, kind), kind});
}

NameId RocpdRun::KernelName(int64_t id) {
  const auto shown = symbols_.Text(id);
  return shown && !shown->empty() ? symbols_.Name(id, sink_)
                                  : raw_symbols_.Name(id, sink_);
}

void RocpdRun::ReadDispatches() {
  SqliteRows rows(
      database_, std::string(kDispatches) + suffix_,
      {"start", "end", "start_id", "end_id", "track_id", "event_id", "pid",
       "tid", "agent_id", "queue_id", "stream_id", "kernel_id"},
      counters_);
  sink_->ExpectOps(rows.Expected());
  rows.ForEach([&] {
    RocpdPlace place = PlaceOf(rows);
    place.thread = RocpdPlace::kUnknown;
    AddOp(rows, place, KernelName(rows.Int(kFirstOwn)), OpKind::kKernel);
  });
}

/// A copy is the GPU's that receives it, else the GPU's that sends it.
void RocpdRun::ReadCopies() {
  SqliteRows rows(database_, "rocpd_memory_copy" + suffix_,
                  {"start", "end", "start_id", "end_id", "track_id", "event_id",
                   "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id",
                   "dst_agent_id", "src_agent_id"},
                  counters_);
  rows.ForEach([&] {
    RocpdPlace place = PlaceOf(rows);
    place.thread = RocpdPlace::kUnknown;
    for (const size_t column : {kFirstOwn + 2, kFirstOwn + 1}) {
      const RocpdAgent* const agent =
          rows.IsInt(column) ? AgentOf(rows.Int(column)) : nullptr;
      if (agent != nullptr && agent->is_gpu) place.agent = rows.Int(column);
    }
    AddOp(rows, place, strings_.Name(rows.Int(kFirstOwn), sink_),
          OpKind::kMemcpy);
  });
}

void RocpdRun::ReadRegions() {
  SqliteRows rows(
      database_, "rocpd_region" + suffix_,
      {"start", "end", "start_id", "end_id", "track_id", "event_id", "pid",
       "tid", "agent_id", "queue_id", "stream_id", "name_id"},
      counters_);
  rows.ForEach([&] {
    const SqliteStrings::HostCall call =
        strings_.CallOf(rows.Int(kFirstOwn), sink_);
    const NameId marker =
        call.use.kept ? kNone : events_.MarkerOf(rows.Int(kEvent));
    if (call.use.begins_capture) counters_->Add(Counter::kGraphCapture);
    if (!call.use.kept && marker == kNone) return;
    const auto times = TimesOf(rows);
    if (!times) {
      counters_->Add(Counter::kMalformedRecord);
      return;
    }
    RocpdPlace place;
    place = PlaceOf(rows);
    place.agent = place.queue = place.stream = RocpdPlace::kUnknown;
    const auto ordinal = static_cast<uint64_t>(rows.rowid());
    if (marker != kNone) {
      sink_->AddRange(ThreadOf(place), times->start_ns, times->end_ns, marker,
                      ordinal);
    } else {
      sink_->AddCall({times->start_ns, times->end_ns,
                      events_.CorrelationOf(rows.Int(kEvent)), ordinal,
                      call.name, ThreadOf(place), call.use.kind});
    }
  });
}

void RocpdRun::Read() {
  by_stream_ = HasStreams();
  ReadRegions();
  ReadDispatches();
  ReadCopies();
}

}  // namespace

bool SniffRocpd(const SqliteDatabase& database) {
  const auto table = database.tables().lower_bound(kDispatches);
  return table != database.tables().end() &&
         table->substr(0, kDispatches.size()) == kDispatches;
}

void ReadRocpd(SqliteDatabase* database, SourceFile* file) {
  file->format = "rocpd SQLite";
  TraceSink sink(&file->counters);
  size_t number = 0;
  for (const std::string& table : database->tables()) {
    if (table.substr(0, kDispatches.size()) != kDispatches) continue;
    RocpdRun(database, table.substr(kDispatches.size()), number++, &sink,
             &file->counters)
        .Read();
  }
  sink.Finish(file);
}

}  // namespace inferdiff
