// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_rows.h"

#include <fmt/core.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "readers/kineto_event.h"
#include "readers/parse_digits.h"

namespace inferdiff {
namespace {

std::string_view FieldOf(const CsvRow& row, size_t column) {
  return column == kNoColumn ? std::string_view() : row[column];
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The column that is there under one of `names`, the first of which is what
/// newest versions write.
size_t Require(const CsvHeader& header,
               std::initializer_list<std::string_view> names,
               std::string_view title, const std::string& path) {
  const size_t column = header.Find(names);
  if (column != kNoColumn) return column;
  throw InputError(
      "missing-column", path, fmt::format("the table has no column {}", title),
      title == "Start_Timestamp" || title == "End_Timestamp"
          ? "capture with times: rocprofv3 --kernel-trace, or rocprof "
            "--timestamp on"
          : "name a CSV file as rocprofv3 writes it, header included",
      InputPosition{InputPosition::Unit::kLine, header.lines()});
}

void FindTimes(const CsvHeader& header, const std::string& path,
               RocprofColumns* columns) {
  columns->start =
      Require(header, {"starttimestamp", "beginns"}, "Start_Timestamp", path);
  columns->end = Require(header, {"endtimestamp", "stoptimestamp", "endns"},
                         "End_Timestamp", path);
  columns->correlation = header.Find({"correlationid"});
  columns->process = header.Find({"guid", "processid", "pid"});
  columns->stream = header.Find({"streamid"});
  columns->thread = header.Find({"threadid", "tid"});
}

}  // namespace

RocprofRowKind RowKindOf(const CsvHeader& header) {
  if (header.columns() < 3) return RocprofRowKind::kUnknown;
  if (header.Has("kernelname")) {
    return header.Has("countername") ? RocprofRowKind::kCounters
                                     : RocprofRowKind::kKernels;
  }
  if (header.Has("direction") && header.Has("kind")) {
    return RocprofRowKind::kCopies;
  }
  if (header.Has("domain") && header.Has("function")) {
    return RocprofRowKind::kApi;
  }
  if (header.Has("nodeid") && header.Has("agenttype")) {
    return RocprofRowKind::kAgents;
  }
  if ((header.Has("name") && header.Has("totaldurationns")) ||
      (header.Has("kind") && header.Has("operation") &&
       header.Has("starttimestamp"))) {
    return RocprofRowKind::kSummary;
  }
  return RocprofRowKind::kUnknown;
}

RocprofColumns ColumnsOf(const CsvHeader& header, const std::string& path) {
  RocprofColumns columns;
  columns.kind = RowKindOf(header);
  columns.shape.columns = header.columns();
  switch (columns.kind) {
    case RocprofRowKind::kKernels:
      columns.name = Require(header, {"kernelname"}, "Kernel_Name", path);
      columns.agent = header.Find({"agentid", "gpuid"});
      columns.queue = header.Find({"queueid"});
      FindTimes(header, path, &columns);
      break;
    case RocprofRowKind::kCopies:
      columns.name = Require(header, {"direction"}, "Direction", path);
      columns.agent = header.Find({"destinationagentid"});
      columns.source = header.Find({"sourceagentid"});
      FindTimes(header, path, &columns);
      break;
    case RocprofRowKind::kApi:
      columns.name = Require(header, {"function"}, "Function", path);
      columns.domain = Require(header, {"domain"}, "Domain", path);
      FindTimes(header, path, &columns);
      break;
    case RocprofRowKind::kAgents:
      columns.node = Require(header, {"nodeid"}, "Node_Id", path);
      columns.type = Require(header, {"agenttype"}, "Agent_Type", path);
      columns.logical = header.Find({"logicalnodeid"});
      columns.name = header.Find({"name"});
      columns.product = header.Find({"productname"});
      columns.cu_count = header.Find({"cucount"});
      break;
    default:
      throw InputError("missing-column", path,
                       "the table has no columns of kernels, copies, calls or "
                       "agents",
                       "name a CSV file as rocprofv3 writes it, header "
                       "included");
  }
  columns.shape.free_text = columns.name == kNoColumn ? 0 : columns.name;
  return columns;
}

size_t RocprofRows::Guess(std::string_view text, size_t from,
                          State* /*state*/) {
  if (from == 0) return 0;
  const size_t newline = text.find('\n', from - 1);
  return newline == text.npos ? newline : newline + 1;
}

WalkEnd RocprofRows::Walk(std::string_view text, size_t from, size_t limit,
                          bool final, State* state, RocprofBatch* batch) {
  batch_ = batch;
  batch->lexicon = &lexicon_;
  const WalkEnd end = walker_.Walk(text, from, limit, final, state->lost, this,
                                   &batch->ordinals, &batch->counters);
  state->lost = end.lost;
  return end;
}

void RocprofRows::End() {
  names_.NextBatch();
  lanes_.NextBatch();
  threads_.NextBatch();
}

void RocprofRows::TakeRow(const CsvRow& row) {
  switch (columns_.kind) {
    case RocprofRowKind::kKernels:
      return TakeKernel(row);
    case RocprofRowKind::kCopies:
      return TakeCopy(row);
    case RocprofRowKind::kApi:
      return TakeCall(row);
    default:
      return TakeAgent(row);
  }
}

/// False, and counted: the row has no times.
bool RocprofRows::ReadTimes(const CsvRow& row, int64_t* start_ns,
                            int64_t* end_ns) {
  for (const auto& [column, time] :
       {std::pair(columns_.start, start_ns), std::pair(columns_.end, end_ns)}) {
    const std::string_view text = row[column];
    if (ParsePaddedDigits(text, time)) continue;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *time);
    if (stop == end && error == std::errc()) continue;
    const bool too_large =
        stop == end && error == std::errc::result_out_of_range;
    batch_->counters.Add(too_large ? Counter::kTimeOutOfRange
                                   : Counter::kMissingField);
    return false;
  }
  return true;
}

int64_t RocprofRows::CorrelationOf(const CsvRow& row) {
  const std::string_view text = FieldOf(row, columns_.correlation);
  int64_t plain = 0;
  if (ParsePaddedDigits(text, &plain)) return plain;
  if (const auto value = ParseInteger(text)) return *value;
  const bool number = text.find_first_not_of("0123456789") == text.npos;
  if (number && !text.empty()) batch_->counters.Add(Counter::kHugeInteger);
  return 0;
}

std::string_view RocprofRows::ProcessOf(const CsvRow& row) const {
  return by_process_ ? FieldOf(row, columns_.process) : std::string_view();
}

/// The name, now that a record has it.
uint32_t RocprofRows::Used(uint32_t name) {
  if (names_.IsFirst(name))
    batch_->names.push_back({name, lexicon_.names[name]});
  return name;
}

/// A field of fewer than eight bytes as a number, with its length. Text of the
/// file is readable for so long.
uint64_t RocprofRows::NumberOf(std::string_view field) {
  uint64_t number = 0;
  if (field.empty()) return number;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&number, field.data(), sizeof(number));
    number &= (uint64_t{1} << (8 * field.size() % 64)) - 1;
  } else {
    for (const char c : field) {
      number = number << 8U | static_cast<unsigned char>(c);
    }
  }
  return number | uint64_t{field.size()} << 56U;
}

uint32_t RocprofRows::LaneOf(const RocprofLane& lane) {
  const bool is_short = (lane.process.size() | lane.agent.size() |
                         lane.queue.size() | lane.stream.size()) < 8;
  const ShortLane key = {NumberOf(lane.process), NumberOf(lane.agent),
                         NumberOf(lane.queue), NumberOf(lane.stream)};
  if (!is_short || !has_lane_ || key != last_key_) {
    key_.clear();
    lane.AppendKey(&key_);
    last_lane_ = lexicon_.lanes.Intern(key_);
    last_key_ = key;
    has_lane_ = is_short;
  }
  if (lanes_.IsFirst(last_lane_)) {
    batch_->lanes.push_back({last_lane_, lexicon_.lanes[last_lane_]});
  }
  return last_lane_;
}

void RocprofRows::TakeKernel(const CsvRow& row) {
  TraceSink::Op op;
  if (!ReadTimes(row, &op.start_ns, &op.end_ns)) return;
  if (op.start_ns == 0) batch_->counters.Add(Counter::kClampedStart);
  op.correlation = CorrelationOf(row);
  op.ordinal = row.line();
  op.name = Used(lexicon_.NameOf(row[columns_.name]));
  op.lane =
      LaneOf({ProcessOf(row), FieldOf(row, columns_.agent),
              FieldOf(row, columns_.queue), FieldOf(row, columns_.stream)});
  batch_->ops.push_back(op);
}

/// "MEMORY_COPY_DEVICE_TO_HOST": of the GPU's copy engine, so it is the
/// source's, as is one between two GPUs.
void RocprofRows::TakeCopy(const CsvRow& row) {
  TraceSink::Op op;
  if (!ReadTimes(row, &op.start_ns, &op.end_ns)) return;
  const std::string_view direction = row[columns_.name];
  const bool from_host = direction.find("HOST_TO_") != direction.npos;
  op.correlation = CorrelationOf(row);
  op.ordinal = row.line();
  op.name = Used(lexicon_.NameOf(direction));
  op.kind = OpKind::kMemcpy;
  op.lane = LaneOf({ProcessOf(row),
                    FieldOf(row, from_host || columns_.source == kNoColumn
                                     ? columns_.agent
                                     : columns_.source),
                    {},
                    FieldOf(row, columns_.stream)});
  batch_->ops.push_back(op);
}

void RocprofRows::TakeCall(const CsvRow& row) {
  if (batch_->process.empty()) {
    batch_->process = FieldOf(row, columns_.process);
  }
  const std::string_view domain = row[columns_.domain];
  const bool is_range = StartsWith(domain, "MARKER_CORE");
  if (!is_range && !StartsWith(domain, "HIP")) return;
  TraceSink::Call call;
  call.name = lexicon_.NameOf(row[columns_.name]);
  const NameUse use = is_range ? NameUse{true} : lexicon_.UseOf(call.name);
  if (use.begins_capture) batch_->counters.Add(Counter::kGraphCapture);
  if (!use.kept || !ReadTimes(row, &call.start_ns, &call.end_ns)) return;
  call.kind = use.kind;
  call.correlation = CorrelationOf(row);
  call.ordinal = row.line();
  key_.assign(ProcessOf(row));
  key_.push_back('\x1f');
  key_.append(FieldOf(row, columns_.thread));
  call.thread = lexicon_.threads.Intern(key_);
  if (threads_.IsFirst(call.thread)) {
    batch_->threads.push_back({call.thread, lexicon_.threads[call.thread]});
  }
  Used(call.name);
  (is_range ? batch_->ranges : batch_->calls).push_back(call);
}

void RocprofRows::TakeAgent(const CsvRow& row) {
  RocprofAgent agent;
  agent.node = ParseInteger(row[columns_.node]).value_or(-1);
  agent.logical =
      ParseInteger(FieldOf(row, columns_.logical)).value_or(agent.node);
  agent.is_gpu = row[columns_.type] == "GPU";
  agent.name = FieldOf(row, columns_.name);
  agent.product = FieldOf(row, columns_.product);
  agent.cu_count = ParseInteger(FieldOf(row, columns_.cu_count)).value_or(0);
  agents_.push_back(std::move(agent));
}

}  // namespace inferdiff
