// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys_reader.h"

#include <fmt/core.h>

#include <future>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "readers/nsys_names.h"
#include "readers/nsys_targets.h"
#include "readers/recent_ids.h"
#include "readers/sqlite_strings.h"
#include "readers/trace_sink.h"

namespace inferdiff {
namespace {

constexpr char kKernels[] = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr char kCopies[] = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr char kMemsets[] = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr char kCalls[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr char kGraphs[] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr char kRanges[] = "NVTX_EVENTS";

struct LaneKey {
  int64_t process = 0;
  int64_t device = 0;
  int64_t context = 0;
  int64_t stream = 0;

  bool operator==(const LaneKey&) const = default;
  uint64_t Mixed() const {
    return MixHash(static_cast<uint64_t>(process) ^
                   MixHash(static_cast<uint64_t>(device))) ^
           static_cast<uint64_t>(context) << 32U ^
           static_cast<uint64_t>(stream);
  }
};

struct ThreadKey {
  int64_t id = 0;

  bool operator==(const ThreadKey&) const = default;
  uint64_t Mixed() const { return static_cast<uint64_t>(id); }
};

class NsysReader {
 public:
  NsysReader(SqliteDatabase* database, SourceFile* file)
      : database_(database),
        file_(file),
        counters_(&file->counters),
        sink_(counters_),
        strings_(database, "StringIds", "id", "value", counters_),
        targets_(database, counters_) {}

  void Run();

 private:
  /// Places in the list of columns, the same for every table of GPU work.
  enum Column : size_t {
    kStart,
    kEnd,
    kDevice,
    kContext,
    kStream,
    kCorrelation,
    kProcess,
    kFirstOwn
  };

  /// A call of CUDA that somebody asks for.
  struct CallRow {
    int64_t start_ns, end_ns, correlation, thread;
    uint64_t rowid;
    uint32_t text;  // of strings_
    bool is_timed;
  };
  struct Calls {
    std::vector<CallRow> rows;
    ImportCounters counters;
  };

  template <typename Take>
  void ReadCalls(ImportCounters* counters, const Take& take) const;
  Calls CollectCalls() const;
  void TakeCall(const CallRow& row);
  void TakeCalls();
  template <typename Name>
  void ReadOps(SqliteRows* rows, OpKind kind, const Name& name);
  void ReadKernels();
  void ReadCopies();
  void ReadMemsets();
  void ReadRanges();
  void ReadOverhead(std::string_view table);
  void CheckGraphs();
  bool HasGraphOps() const;
  void NameLanes();

  NameId KernelName(const SqliteRows& rows);
  int64_t ProcessIn(const SqliteRows& rows);
  uint32_t ProcessOf(int64_t process);
  uint32_t ThreadOf(int64_t global_id);
  uint32_t LaneOf(const LaneKey& key);
  /// Numbers of ENUM_NSYS_EVENT_TYPE.
  struct RangeTypes {
    int64_t push = 35;
    int64_t start = 37;
    int64_t push_pop = 59;
    int64_t start_end = 60;
  };
  RangeTypes ReadRangeTypes();

  SqliteDatabase* database_;
  SourceFile* file_;
  ImportCounters* counters_;
  TraceSink sink_;
  SqliteStrings strings_;
  NsysTargets targets_;
  RecentIds<LaneKey> lanes_;
  RecentIds<ThreadKey> threads_;
  std::set<int64_t> host_processes_;        // that call CUDA, once taken
  std::vector<int64_t> process_of_device_;  // by the sink's device
  uint64_t graph_launches_ = 0;
  std::future<Calls> calls_;  // of another thread, where there is one
  bool calls_taken_ = false;
};

uint32_t NsysReader::ProcessOf(int64_t process) {
  return sink_.Process(process, process == 0
                                    ? "unknown"
                                    : fmt::format("{}", NsysPidOf(process)));
}

uint32_t NsysReader::ThreadOf(int64_t global_id) {
  return threads_.Get({global_id}, [this](const ThreadKey& key) {
    return sink_.Thread(ProcessOf(NsysProcessOf(key.id)), key.id,
                        fmt::format("{}", key.id & 0xffffff));
  });
}

uint32_t NsysReader::LaneOf(const LaneKey& key) {
  return lanes_.Get(key, [this](const LaneKey& lane) {
    const uint32_t device = sink_.Device(
        ProcessOf(lane.process), targets_.DeviceOf(lane.process, lane.device));
    if (device == process_of_device_.size())
      process_of_device_.push_back(lane.process);
    const uint64_t id = static_cast<uint64_t>(lane.context) << 32U ^
                        static_cast<uint64_t>(lane.stream);
    return sink_.Lane(device, static_cast<int64_t>(id),
                      fmt::format("{}", lane.stream));
  });
}

/// Of a row of GPU work. Without a column for it, the only process that calls
/// CUDA is meant.
int64_t NsysReader::ProcessIn(const SqliteRows& rows) {
  const int64_t id = rows.Int(kProcess);
  if (id != 0) return NsysProcessOf(id);
  TakeCalls();
  return host_processes_.size() == 1 ? *host_processes_.begin() : 0;
}

/// On a connection of its own: nothing that another thread uses is changed.
/// `take` gets how many rows to expect, then each that is kept.
template <typename Take>
void NsysReader::ReadCalls(ImportCounters* counters, const Take& take) const {
  SqliteDatabase database(database_);
  SqliteRows rows(&database, kCalls,
                  {"start", "end", "globalTid", "correlationId", "nameId"},
                  counters);
  take.Expect(rows.Expected());
  enum class Use : uint8_t { kUnknown, kKept, kNotKept, kCapture };
  std::vector<Use> use_of(strings_.size(), Use::kUnknown);
  rows.ForEach([&] {
    const uint32_t text = strings_.Find(rows.Int(4));
    if (text == kNone) return;
    Use& use = use_of[text];
    if (use == Use::kUnknown) {
      const NameUse known = UseOfCall(strings_.TextAt(text));
      use = known.kept             ? Use::kKept
            : known.begins_capture ? Use::kCapture
                                   : Use::kNotKept;
    }
    if (use == Use::kCapture) counters->Add(Counter::kGraphCapture);
    if (use != Use::kKept) return;
    take.Row({rows.Int(0), rows.Int(1), rows.Int(3), rows.Int(2),
              static_cast<uint64_t>(rows.rowid()), text,
              rows.IsInt(0) && rows.IsInt(1)});
  });
}

/// For another thread to take.
NsysReader::Calls NsysReader::CollectCalls() const {
  struct Collect {
    std::vector<CallRow>* rows;
    void Expect(size_t count) const { rows->reserve(count); }
    void Row(const CallRow& row) const { rows->push_back(row); }
  };
  Calls calls;
  ReadCalls(&calls.counters, Collect{&calls.rows});
  return calls;
}

void NsysReader::TakeCall(const CallRow& row) {
  const SqliteStrings::HostCall call = strings_.CallAt(row.text, &sink_);
  const int64_t process = NsysProcessOf(row.thread);
  if (host_processes_.size() != 1 || *host_processes_.begin() != process)
    host_processes_.insert(process);
  if (call.use.kind == CallKind::kGraphLaunch) ++graph_launches_;
  if (!row.is_timed) {
    counters_->Add(Counter::kMalformedRecord);
    return;
  }
  sink_.AddCall({row.start_ns, row.end_ns, row.correlation, row.rowid,
                 call.name, ThreadOf(row.thread), call.use.kind});
}

/// Once. Waits for the calls, or reads them, where there is one thread.
void NsysReader::TakeCalls() {
  if (std::exchange(calls_taken_, true)) return;
  if (!calls_.valid()) {
    struct Direct {
      NsysReader* reader;
      void Expect(size_t count) const { reader->sink_.ExpectCalls(count); }
      void Row(const CallRow& row) const { reader->TakeCall(row); }
    };
    ReadCalls(counters_, Direct{this});
    return;
  }
  const Calls calls = calls_.get();
  counters_->Merge(calls.counters);
  sink_.ExpectCalls(calls.rows.size());
  for (const CallRow& row : calls.rows) TakeCall(row);
}

template <typename Name>
void NsysReader::ReadOps(SqliteRows* rows, OpKind kind, const Name& name) {
  sink_.ExpectOps(rows->Expected());
  rows->ForEach([&] {
    if (!rows->IsInt(kStart) || !rows->IsInt(kEnd)) {
      counters_->Add(Counter::kMissingField);
      return;
    }
    LaneKey lane;
    lane.process = ProcessIn(*rows);
    lane.device = rows->Int(kDevice);
    lane.context = rows->Int(kContext);
    lane.stream = rows->Int(kStream);
    sink_.AddOp({rows->Int(kStart), rows->Int(kEnd), rows->Int(kCorrelation),
                 static_cast<uint64_t>(rows->rowid()), name(*rows),
                 LaneOf(lane), kind});
  });
}

NameId NsysReader::KernelName(const SqliteRows& rows) {
  const NameId name = strings_.Name(rows.Int(kFirstOwn), &sink_);
  if (name != kNone) return name;
  counters_->Add(Counter::kDanglingName);
  return sink_.Name("(unnamed kernel)");
}

void NsysReader::ReadKernels() {
  SqliteRows rows(
      database_, kKernels,
      {"start", "end", "deviceId", "contextId", "streamId", "correlationId",
       "globalPid", "demangledName|mangledName|shortName"},
      counters_);
  ReadOps(&rows, OpKind::kKernel,
          [this](const SqliteRows& row) { return KernelName(row); });
}

void NsysReader::ReadCopies() {
  SqliteRows rows(
      database_, kCopies,
      {"start", "end", "deviceId", "contextId", "streamId", "correlationId",
       "globalPid", "copyKind", "srcKind", "dstKind"},
      counters_);
  const auto kind = [](const SqliteRows& row, size_t column) {
    return row.IsInt(column) ? row.Int(column) : kNoKind;
  };
  ReadOps(&rows, OpKind::kMemcpy, [&](const SqliteRows& row) {
    return sink_.Name(NsysCopyName(kind(row, kFirstOwn),
                                   kind(row, kFirstOwn + 1),
                                   kind(row, kFirstOwn + 2)));
  });
}

void NsysReader::ReadMemsets() {
  SqliteRows rows(database_, kMemsets,
                  {"start", "end", "deviceId", "contextId", "streamId",
                   "correlationId", "globalPid", "memKind"},
                  counters_);
  ReadOps(&rows, OpKind::kMemset, [this](const SqliteRows& row) {
    return sink_.Name(
        NsysMemsetName(row.IsInt(kFirstOwn) ? row.Int(kFirstOwn) : kNoKind));
  });
}

/// The numbers of whole ranges; exports say them since 2022.
NsysReader::RangeTypes NsysReader::ReadRangeTypes() {
  RangeTypes types;
  SqliteRows rows(database_, "ENUM_NSYS_EVENT_TYPE", {"id", "name"}, counters_);
  rows.ForEach([&] {
    const std::string_view name = rows.Text(1);
    if (name == "NvtxPushPopRange") types.push_pop = rows.Int(0);
    if (name == "NvtxStartEndRange") types.start_end = rows.Int(0);
    if (name == "NvtxPushRange") types.push = rows.Int(0);
    if (name == "NvtxStartRange") types.start = rows.Int(0);
  });
  return types;
}

void NsysReader::ReadRanges() {
  const RangeTypes types = ReadRangeTypes();
  SqliteRows rows(database_, kRanges,
                  {"start", "end", "eventType", "globalTid", "text", "textId"},
                  counters_);
  rows.ForEach([&] {
    const int64_t type = rows.Int(2);
    const bool whole = type == types.push_pop || type == types.start_end;
    if (!whole && type != types.push && type != types.start) return;
    if (!whole || !rows.IsInt(0) || !rows.IsInt(1)) {
      counters_->Add(Counter::kOpenRange);
      return;
    }
    const NameId name = rows.IsText(4) ? sink_.Name(rows.Text(4))
                                       : strings_.Name(rows.Int(5), &sink_);
    if (name == kNone) {
      counters_->Add(Counter::kDanglingName);
      return;
    }
    sink_.AddRange(ThreadOf(rows.Int(3)), rows.Int(0), rows.Int(1), name,
                   static_cast<uint64_t>(rows.rowid()));
  });
}

/// What the driver does by itself (2 compiles, 6 and 7 load code, 8 waits for
/// room in the queue) costs as much without a profiler, and is not kept.
void NsysReader::ReadOverhead(std::string_view table) {
  SqliteRows rows(database_, table,
                  {"start", "end", "globalTid", "overheadType"}, counters_);
  rows.ForEach([&] {
    const int64_t type = rows.Int(3);
    if (type == 2 || (type >= 6 && type <= 8)) return;
    if (!rows.IsInt(0) || !rows.IsInt(1)) return;
    sink_.AddProfilerSpan(ProcessOf(NsysProcessOf(rows.Int(2))), rows.Int(0),
                          rows.Int(1));
  });
}

/// Graphs that were captured as a whole: there is a row for each launch at
/// most, and none for what ran in it.
void NsysReader::CheckGraphs() {
  uint64_t launches = 0;
  SqliteRows rows(database_, kGraphs, {}, counters_);
  rows.ForEach([&] { ++launches; });
  if (launches == 0 && !HasGraphOps()) launches = graph_launches_;
  if (launches == 0) return;
  counters_->Add(Counter::kGraphAsWhole, launches);
  if (!file_->traces.empty()) return;
  throw InputError(
      "graph-level-capture", "",
      fmt::format("all GPU work is in {} graph launches, which were captured "
                  "as a whole: no kernel is in the file",
                  launches),
      "capture again with nsys profile --cuda-graph-trace=node");
}

bool NsysReader::HasGraphOps() const {
  for (const Trace& trace : file_->traces) {
    for (const uint32_t call : trace.ops.launch) {
      if (call != kNone && trace.calls.kind[call] == CallKind::kGraphLaunch)
        return true;
    }
  }
  return false;
}

/// Streams are numbered within their context: the context leaves a lane's id
/// where there is one only, and joins its label where there are several.
void NsysReader::NameLanes() {
  for (Trace& trace : file_->traces) {
    std::set<int64_t> contexts;
    for (const Lane& lane : trace.lanes) contexts.insert(lane.id >> 32);
    for (Lane& lane : trace.lanes) {
      if (contexts.size() == 1) {
        lane.id = static_cast<int32_t>(lane.id);
      } else {
        lane.label = fmt::format("{} of context {}", lane.label, lane.id >> 32);
      }
    }
  }
}

void NsysReader::Run() {
  file_->format = "Nsight Systems SQLite";
  const bool alone = ThreadCount(database_->threads()) == 1;
  if (!alone)
    calls_ = std::async(std::launch::async | std::launch::deferred,
                        [this] { return CollectCalls(); });
  ReadKernels();
  ReadCopies();
  ReadMemsets();
  TakeCalls();
  ReadRanges();
  ReadOverhead("PROFILER_OVERHEAD");
  ReadOverhead("CUPTI_ACTIVITY_KIND_OVERHEAD");
  const std::set<int64_t> processes(process_of_device_.begin(),
                                    process_of_device_.end());
  for (uint32_t i = 0; i < process_of_device_.size(); ++i)
    targets_.Fill(process_of_device_[i], processes.size() == 1, &sink_.info(i));
  sink_.Finish(file_);
  NameLanes();
  CheckGraphs();
}

}  // namespace

bool SniffNsys(const SqliteDatabase& database) {
  return database.HasTable("META_DATA_EXPORT") ||
         database.HasTable("StringIds");
}

void ReadNsys(SqliteDatabase* database, SourceFile* file) {
  NsysReader(database, file).Run();
}

}  // namespace inferdiff
