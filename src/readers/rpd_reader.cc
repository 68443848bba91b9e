// SPDX-License-Identifier: Apache-2.0
#include "readers/rpd_reader.h"

#include <fmt/core.h>

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "readers/id_table.h"
#include "readers/recent_ids.h"
#include "readers/sqlite_strings.h"
#include "readers/trace_sink.h"

namespace inferdiff {
namespace {

struct LaneKey {
  int64_t process = 0;
  int64_t device = 0;
  int64_t queue = 0;

  bool operator==(const LaneKey&) const = default;
  uint64_t Mixed() const {
    return MixHash(static_cast<uint64_t>(process) ^
                   MixHash(static_cast<uint64_t>(device))) ^
           static_cast<uint64_t>(queue);
  }
};

struct ThreadKey {
  int64_t process = 0;
  int64_t thread = 0;

  bool operator==(const ThreadKey&) const = default;
  uint64_t Mixed() const {
    return MixHash(static_cast<uint64_t>(process)) ^
           static_cast<uint64_t>(thread);
  }
};

/// What an operation of this type is. "Barrier" and "Marker" wait for others
/// and do nothing.
struct OpType {
  bool is_work = true;
  OpKind kind = OpKind::kKernel;
};

OpType TypeOf(std::string_view type, std::string_view description) {
  if (type == "Barrier" || type == "Marker") return {false, {}};
  const bool fills = type == "Memset" || type == "FillBuffer" ||
                     (type == "Memcpy" && description == "Fill");
  if (fills) return {true, OpKind::kMemset};
  if (type == "Memcpy" || type.substr(0, 4) == "Copy")
    return {true, OpKind::kMemcpy};
  return {true, OpKind::kKernel};
}

/// No process, or more than one.
constexpr int64_t kSeveral = -1;

/// Packed process ids of several nodes: node * stride + id.
constexpr int64_t kDefaultStride = 10'000'000;

class RpdReader {
 public:
  RpdReader(SqliteDatabase* database, SourceFile* file)
      : database_(database),
        file_(file),
        counters_(&file->counters),
        sink_(counters_),
        strings_(database, "rocpd_string", "id", "string", counters_) {}

  void Run();

 private:
  /// A range whose name is in another table.
  struct Marker {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t args = 0;
    uint64_t ordinal = 0;
    uint32_t thread = 0;
  };
  struct CallOfOp {
    int64_t api = 0;  // 0: none
    int64_t process = 0;
  };

  void ReadStride();
  void ReadCalls();
  void ReadMarkers();
  void ReadLinks();
  void ReadOps();
  bool IsRange(const SqliteRows& rows, int64_t name) const;
  void AddRange(const SqliteRows& rows, uint32_t thread);
  CallOfOp CallOf(int64_t op) const;
  NameId OpName(const SqliteRows& rows, std::string_view described,
                std::string_view type);
  uint32_t ProcessOf(int64_t pid);
  uint32_t ThreadOf(const ThreadKey& key);
  uint32_t LaneOf(const LaneKey& key);

  SqliteDatabase* database_;
  SourceFile* file_;
  ImportCounters* counters_;
  TraceSink sink_;
  SqliteStrings strings_;
  int64_t pid_stride_ = kDefaultStride;
  bool is_cuda_ = false;
  std::vector<Marker> markers_;
  // By call, in the order of rocpd_api.
  std::vector<int64_t> api_ids_;
  std::vector<int64_t> api_processes_;
  std::map<int64_t, int64_t> process_of_session_;
  // By link, in the order of rocpd_api_ops.
  std::vector<uint32_t> link_calls_;
  IdTable link_of_op_;
  RecentIds<LaneKey> lanes_;
  RecentIds<ThreadKey> threads_;
};

void RpdReader::ReadStride() {
  SqliteRows rows(database_, "rocpd_metadata", {"tag", "value"}, counters_);
  rows.ForEach([&] {
    if (rows.Text(0) != "pid_stride") return;
    const std::string_view text = rows.Text(1);
    int64_t stride = 0;
    std::from_chars(text.data(), text.data() + text.size(), stride);
    if (stride > 0) pid_stride_ = stride;
  });
}

/// Marks, which have no duration, are none.
bool RpdReader::IsRange(const SqliteRows& rows, int64_t name) const {
  constexpr size_t kCategory = 6;
  constexpr size_t kDomain = 7;
  if (rows.Int(2) == rows.Int(3)) return false;
  if (strings_.Text(name) == "UserMarker") return true;
  return rows.IsInt(kCategory) &&
         strings_.Text(rows.Int(kCategory)) == "user_scope" &&
         strings_.Text(rows.Int(kDomain)) == "torch";
}

void RpdReader::ReadCalls() {
  SqliteRows rows(database_, "rocpd_api",
                  {"pid", "tid", "start", "end", "apiName_id", "args_id",
                   "category_id", "domain_id", "id"},
                  counters_);
  rows.ForEach([&] {
    const int64_t name = rows.Int(4);
    const SqliteStrings::HostCall call = strings_.CallOf(name, &sink_);
    const ThreadKey thread{rows.Int(0), rows.Int(1)};
    const auto ordinal = static_cast<uint64_t>(rows.rowid());
    const bool is_range = !call.use.kept && IsRange(rows, name);
    if (!is_range) {
      api_ids_.push_back(rows.Int(8));
      api_processes_.push_back(thread.process);
      const auto [session, fresh] =
          process_of_session_.emplace(rows.Int(8) >> 32, thread.process);
      if (!fresh && session->second != thread.process)
        session->second = kSeveral;
    }
    if (call.use.begins_capture) counters_->Add(Counter::kGraphCapture);
    if (!call.use.kept && !is_range) return;
    if (!rows.IsInt(2) || !rows.IsInt(3)) {
      counters_->Add(Counter::kMalformedRecord);
    } else if (is_range) {
      AddRange(rows, ThreadOf(thread));
    } else {
      is_cuda_ |= strings_.Text(name)->substr(0, 2) == "cu";
      sink_.AddCall({rows.Int(2), rows.Int(3), rows.Int(8), ordinal, call.name,
                     ThreadOf(thread), call.use.kind});
    }
  });
}

/// Markers have their text in the arguments, PyTorch's ranges in the name.
void RpdReader::AddRange(const SqliteRows& rows, uint32_t thread) {
  const auto ordinal = static_cast<uint64_t>(rows.rowid());
  if (strings_.Text(rows.Int(4)) == "UserMarker") {
    markers_.push_back(
        {rows.Int(2), rows.Int(3), rows.Int(5), ordinal, thread});
    return;
  }
  sink_.AddRange(thread, rows.Int(2), rows.Int(3),
                 strings_.Name(rows.Int(4), &sink_), ordinal);
}

/// Schema 3 has the arguments in a table of their own, which can be most of
/// the file: only those of markers are kept.
void RpdReader::ReadMarkers() {
  std::vector<int64_t> wanted;
  wanted.reserve(markers_.size());
  for (const Marker& marker : markers_) wanted.push_back(marker.args);
  if (wanted.empty()) return;
  const IdTable index(wanted);
  std::vector<NameId> names(wanted.size(), kNone);
  SqliteRows rows(
      database_,
      database_->HasTable("rocpd_ustring") ? "rocpd_ustring" : "rocpd_string",
      {"id", "string"}, counters_);
  rows.ForEach([&] {
    const uint32_t first = index.Find(rows.Int(0));
    if (first != kNone && rows.IsText(1))
      names[first] = sink_.Name(rows.Text(1));
  });
  for (const Marker& marker : markers_) {
    const NameId name = names[index.Find(marker.args)];
    if (name == kNone) {
      counters_->Add(Counter::kDanglingName);
      continue;
    }
    sink_.AddRange(marker.thread, marker.start_ns, marker.end_ns, name,
                   marker.ordinal);
  }
}

void RpdReader::ReadLinks() {
  const IdTable calls(api_ids_);
  std::vector<int64_t> ops;
  SqliteRows rows(database_, "rocpd_api_ops", {"api_id", "op_id"}, counters_);
  rows.ForEach([&] {
    const uint32_t call = calls.Find(rows.Int(0));
    if (call == kNone) return;  // the op counts as unlinked
    ops.push_back(rows.Int(1));
    link_calls_.push_back(call);
  });
  link_of_op_ = IdTable(ops);
}

/// The process of an op that no call made is that of its session, where ids
/// have one.
RpdReader::CallOfOp RpdReader::CallOf(int64_t op) const {
  const uint32_t link = link_of_op_.Find(op);
  if (link != kNone) {
    const uint32_t call = link_calls_[link];
    return {api_ids_[call], api_processes_[call]};
  }
  const auto session = process_of_session_.find(op >> 32);
  return {0, session == process_of_session_.end() ? kSeveral : session->second};
}

/// The description, else the type; what CUDA and newer HIP call "Memcpy" has
/// both: "Memcpy (SDMA)".
NameId RpdReader::OpName(const SqliteRows& rows, std::string_view described,
                         std::string_view type) {
  if (described.empty()) return strings_.Name(rows.Int(5), &sink_);
  if (type != "Memcpy") return strings_.Name(rows.Int(4), &sink_);
  return sink_.Name(fmt::format("{} ({})", type, described));
}

void RpdReader::ReadOps() {
  SqliteRows rows(
      database_, "rocpd_op",
      {"gpuId", "queueId", "start", "end", "description_id", "opType_id", "id"},
      counters_);
  sink_.ExpectOps(rows.Expected());
  rows.ForEach([&] {
    const auto described = strings_.Text(rows.Int(4));
    const auto type = strings_.Text(rows.Int(5));
    const OpType kind = TypeOf(type.value_or(""), described.value_or(""));
    if (!kind.is_work) return;
    if (!rows.IsInt(2) || !rows.IsInt(3)) {
      counters_->Add(Counter::kMissingField);
      return;
    }
    NameId name = OpName(rows, described.value_or(""), type.value_or(""));
    if (name == kNone) {
      counters_->Add(Counter::kDanglingName);
      name = sink_.Name("(unnamed operation)");
    }
    const CallOfOp call = CallOf(rows.Int(6));
    sink_.AddOp({rows.Int(2), rows.Int(3), call.api,
                 static_cast<uint64_t>(rows.rowid()), name,
                 LaneOf({call.process, rows.Int(0), rows.Int(1)}), kind.kind});
  });
}

uint32_t RpdReader::ProcessOf(int64_t pid) {
  if (pid == kSeveral) return sink_.Process(pid, "unknown");
  const int64_t node = pid / pid_stride_;
  return sink_.Process(
      pid, node == 0 ? fmt::format("{}", pid)
                     : fmt::format("{} of node {}", pid % pid_stride_, node));
}

uint32_t RpdReader::ThreadOf(const ThreadKey& key) {
  return threads_.Get(key, [this](const ThreadKey& thread) {
    return sink_.Thread(ProcessOf(thread.process), thread.thread,
                        fmt::format("{}", thread.thread));
  });
}

uint32_t RpdReader::LaneOf(const LaneKey& key) {
  return lanes_.Get(key, [this](const LaneKey& lane) {
    const uint32_t device = sink_.Device(ProcessOf(lane.process), lane.device);
    sink_.info(device).vendor = is_cuda_ ? Vendor::kNvidia : Vendor::kAmd;
    return sink_.Lane(device, lane.queue, fmt::format("queue {}", lane.queue));
  });
}

void RpdReader::Run() {
  file_->format = "RPD SQLite";
  ReadStride();
  ReadCalls();
  ReadMarkers();
  ReadLinks();
  ReadOps();
  sink_.Finish(file_);
}

}  // namespace

bool SniffRpd(const SqliteDatabase& database) {
  return database.HasTable("rocpd_op") && database.HasTable("rocpd_api");
}

void ReadRpd(SqliteDatabase* database, SourceFile* file) {
  RpdReader(database, file).Run();
}

}  // namespace inferdiff
