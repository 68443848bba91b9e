// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_process.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "readers/json_fields.h"
#include "readers/kineto_event.h"
#include "readers/parse_digits.h"

namespace inferdiff {
namespace {

/// Kernel ids count from 0, one a symbol.
constexpr uint64_t kMostSymbols = uint64_t{1} << 22;

/// Of a number of 64 bits; false: it is none.
template <typename Number>
bool ReadNumber(std::string_view text, Number* value) {
  int64_t plain = 0;
  if (ParseDigits(text, &plain)) {
    *value = static_cast<Number>(plain);
    return true;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return stop == end && error == std::errc();
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Kind and operation in one number.
uint32_t CodeOf(uint64_t kind, uint64_t operation) {
  constexpr uint64_t kMost = 0xffff;
  return static_cast<uint32_t>(std::min(kind, kMost) << 16 |
                               std::min(operation, kMost));
}

}  // namespace

bool RocprofProcess::Place::operator<(const Place& other) const {
  return std::tie(agent, destination, queue, stream, has_stream, is_copy) <
         std::tie(other.agent, other.destination, other.queue, other.stream,
                  other.has_stream, other.is_copy);
}

/// Of any record.
struct RocprofProcess::Fields {
  uint64_t kind = 0, operation = 0, kernel = 0;
  int64_t thread = 0, correlation = 0, start_ns = 0, end_ns = 0;
  Place place;
  bool has_start = false, has_end = false, out_of_range = false;
};

bool RocprofProcess::Take(std::string_view key, std::string_view text) {
  if (key == "kernel_dispatch") return TakeOp(text, false);
  if (key == "hip_api") return TakeCall(text, false);
  if (key == "memory_copy") return TakeOp(text, true);
  if (key == "kernel_symbols") return TakeSymbol(text);
  if (key == "buffer_records") return TakeKind(text);
  if (key == "agents") return TakeAgent(text);
  if (key == "metadata") return TakeMetadata(text);
  if (key != "marker_api") return true;
  // The strings' messages and the records stand under the same key.
  return text.find("\"start_timestamp\"") == text.npos ? TakeMessage(text)
                                                       : TakeCall(text, true);
}

bool RocprofProcess::TakeMetadata(std::string_view text) {
  return ForEachField(text, [&](std::string_view parent, std::string_view key,
                                std::string_view value, bool) {
    if (parent.empty() && key == "pid") pid_ = value;
  });
}

bool RocprofProcess::TakeAgent(std::string_view text) {
  uint64_t handle = 0;
  RocprofAgent agent;
  const bool good =
      ForEachField(text, [&](std::string_view parent, std::string_view key,
                             std::string_view value, bool) {
        if (parent == "id" && key == "handle") ReadNumber(value, &handle);
        if (!parent.empty()) return;
        if (key == "node_id") ReadNumber(value, &agent.node);
        if (key == "logical_node_id") ReadNumber(value, &agent.logical);
        if (key == "type") agent.is_gpu = value == "2";
        if (key == "name") agent.name = value;
        if (key == "product_name") agent.product = value;
        if (key == "cu_count") ReadNumber(value, &agent.cu_count);
      });
  if (agent.logical < 0) agent.logical = agent.node;
  if (good) agents_.emplace_back(handle, std::move(agent));
  return good;
}

bool RocprofProcess::TakeKind(std::string_view text) {
  Kind kind;
  const bool good =
      ForEachField(text, [&](std::string_view, std::string_view key,
                             std::string_view value, bool) {
        if (key == "kind") {
          kind.name = lexicon_->names[lexicon_->names.Intern(value)];
        }
        if (key != "operations" || value.empty()) return;
        const char* p = value.data();
        const char* const end = p + value.size();
        while ((p = std::find(p, end, '"')) != end) {
          const char* const close = FindStringEnd(p + 1, end);
          if (close == nullptr) return;
          kind.operations.push_back(lexicon_->names.Intern(
              {p + 1, static_cast<size_t>(close - p - 1)}));
          p = close + 1;
        }
      });
  kinds_.push_back(std::move(kind));  // its number counts, good or bad
  return good;
}

bool RocprofProcess::TakeMessage(std::string_view text) {
  int64_t correlation = 0;
  std::string_view message;
  const bool good =
      ForEachField(text, [&](std::string_view, std::string_view key,
                             std::string_view value, bool) {
        if (key == "key") ReadNumber(value, &correlation);
        if (key == "value") message = value;
      });
  if (good) {
    messages_.emplace_back(correlation, lexicon_->names.Intern(message));
  }
  return good;
}

/// The name as CSV files have it, else as the compiler wrote it.
bool RocprofProcess::TakeSymbol(std::string_view text) {
  uint64_t id = kMostSymbols;
  std::string_view formatted, demangled, mangled;
  const bool good =
      ForEachField(text, [&](std::string_view parent, std::string_view key,
                             std::string_view value, bool) {
        if (!parent.empty()) return;
        if (key == "kernel_id") ReadNumber(value, &id);
        if (key == "formatted_kernel_name") formatted = value;
        if (key == "demangled_kernel_name") demangled = value;
        if (key == "kernel_name") mangled = value;
      });
  if (!good || id >= kMostSymbols) return good;
  std::string_view name = formatted;
  if (name.empty()) name = demangled;
  if (name.empty()) name = mangled;
  if (symbols_.size() <= id) symbols_.resize(id + 1, kNone);
  symbols_[id] = lexicon_->names.Intern(name);
  return true;
}

bool RocprofProcess::ReadRecord(std::string_view text, Fields* fields) {
  const auto time = [&](std::string_view value, int64_t* ns) {
    const bool good = ReadNumber(value, ns);
    fields->out_of_range |=
        !good && value.find_first_not_of("0123456789") == value.npos;
    return good;
  };
  return ForEachField(text, [&](std::string_view parent, std::string_view key,
                                std::string_view value, bool) {
    if (key == "handle") {
      Place& place = fields->place;
      if (parent == "agent_id" || parent == "src_agent_id") {
        ReadNumber(value, &place.agent);
      } else if (parent == "queue_id") {
        ReadNumber(value, &place.queue);
      } else if (parent == "dst_agent_id") {
        ReadNumber(value, &place.destination);
      } else if (parent == "stream_id") {
        place.has_stream = ReadNumber(value, &place.stream);
      }
    } else if (parent.empty()) {
      if (key == "start_timestamp") {
        fields->has_start = time(value, &fields->start_ns);
      } else if (key == "end_timestamp") {
        fields->has_end = time(value, &fields->end_ns);
      } else if (key == "kind") {
        ReadNumber(value, &fields->kind);
      } else if (key == "operation") {
        ReadNumber(value, &fields->operation);
      } else if (key == "thread_id") {
        ReadNumber(value, &fields->thread);
      }
    } else if (key == "internal") {
      ReadNumber(value, &fields->correlation);
    } else if (key == "kernel_id") {
      ReadNumber(value, &fields->kernel);
    }
  });
}

uint32_t RocprofProcess::PlaceNumber(const Place& place) {
  if (!places_.empty()) {
    const Place& last = places_[last_place_];
    if (!(last < place) && !(place < last)) return last_place_;
  }
  const auto [it, added] =
      place_index_.emplace(place, static_cast<uint32_t>(places_.size()));
  if (added) places_.push_back(place);
  return last_place_ = it->second;
}

bool RocprofProcess::TakeOp(std::string_view text, bool is_copy) {
  const uint64_t ordinal = is_copy ? ordinals_->copies++ : ordinals_->kernels++;
  Fields fields;
  if (!ReadRecord(text, &fields)) return false;
  if (!fields.has_start || !fields.has_end) {
    batch_.counters.Add(fields.out_of_range ? Counter::kTimeOutOfRange
                                            : Counter::kMissingField);
    return true;
  }
  if (fields.start_ns == 0) batch_.counters.Add(Counter::kClampedStart);
  fields.place.is_copy = is_copy;
  TraceSink::Op op;
  op.start_ns = fields.start_ns;
  op.end_ns = fields.end_ns;
  op.correlation = fields.correlation;
  op.ordinal = ordinal;
  op.lane = PlaceNumber(fields.place);
  if (is_copy) {
    op.kind = OpKind::kMemcpy;
    op.name = CodeOf(fields.kind, fields.operation);
    copies_.push_back(op);
  } else {
    op.name = static_cast<NameId>(std::min(fields.kernel, kMostSymbols));
    batch_.ops.push_back(op);
  }
  return true;
}

/// Whether a call of this kind and operation is of interest, as far as that is
/// known.
bool RocprofProcess::IsKept(uint64_t kind, uint64_t operation) {
  if (kind >= kinds_.size()) return true;
  const NameId name = OperationName(CodeOf(kind, operation));
  return name != kNone && lexicon_->UseOf(name).kept;
}

bool RocprofProcess::TakeCall(std::string_view text, bool is_range) {
  const uint64_t ordinal = is_range ? ordinals_->ranges++ : ordinals_->calls++;
  Fields fields;
  if (!is_range) {
    // Most calls launch nothing: what they are stands in front.
    bool has_kind = false;
    bool kept = true;
    ForEachField(text, [&](std::string_view parent, std::string_view key,
                           std::string_view value, bool) {
      if (!parent.empty()) return true;
      if (key == "kind") has_kind = ReadNumber(value, &fields.kind);
      if (key != "operation") return true;
      kept = !has_kind || !ReadNumber(value, &fields.operation) ||
             IsKept(fields.kind, fields.operation);
      return false;
    });
    if (!kept) return true;
  }
  if (!ReadRecord(text, &fields)) return false;
  if (!is_range && !IsKept(fields.kind, fields.operation)) return true;
  const uint32_t code = CodeOf(fields.kind, fields.operation);
  if (!fields.has_start || !fields.has_end) return true;
  if (threads_.empty() || threads_.back().first != fields.thread) {
    const std::string key = fmt::format("{}\x1f{}", pid_, fields.thread);
    threads_.emplace_back(fields.thread, lexicon_->threads.Intern(key));
  }
  TraceSink::Call call;
  call.start_ns = fields.start_ns;
  call.end_ns = fields.end_ns;
  call.correlation = fields.correlation;
  call.ordinal = ordinal;
  call.name = code;
  call.thread = threads_.back().second;
  (is_range ? ranges_ : calls_).push_back(call);
  return true;
}

std::string_view RocprofProcess::KindName(uint32_t code) const {
  return code >> 16 < kinds_.size() ? kinds_[code >> 16].name
                                    : std::string_view();
}

NameId RocprofProcess::OperationName(uint32_t code) const {
  if (code >> 16 >= kinds_.size()) return kNone;
  const Kind& kind = kinds_[code >> 16];
  const uint32_t operation = code & 0xffffU;
  return operation < kind.operations.size() ? kind.operations[operation]
                                            : kNone;
}

NameId RocprofProcess::MessageOf(int64_t correlation) const {
  const auto at = std::lower_bound(messages_.begin(), messages_.end(),
                                   std::pair(correlation, NameId{0}));
  return at != messages_.end() && at->first == correlation ? at->second : kNone;
}

/// Places -> lanes of the lexicon. An agent is known by its logical number, as
/// in CSV files; a copy is its source's, or the destination's where the source
/// is no GPU.
std::vector<uint32_t> RocprofProcess::NumberPlaces() {
  const auto find = [&](uint64_t handle) -> const RocprofAgent* {
    for (const auto& [known, agent] : agents_)
      if (known == handle) return &agent;
    return nullptr;
  };
  std::vector<uint32_t> numbers;
  for (const Place& place : places_) {
    uint64_t handle = place.agent;
    const RocprofAgent* agent = find(handle);
    if (place.is_copy && agent != nullptr && !agent->is_gpu) {
      handle = place.destination;
      agent = find(handle);
    }
    const std::string number = agent == nullptr
                                   ? std::to_string(handle)
                                   : std::to_string(agent->logical);
    const std::string queue =
        place.is_copy ? std::string() : std::to_string(place.queue);
    const std::string stream =
        place.has_stream ? std::to_string(place.stream) : std::string();
    std::string key;
    RocprofLane{pid_, number, queue, stream}.AppendKey(&key);
    numbers.push_back(lexicon_->lanes.Intern(key));
  }
  return numbers;
}

void RocprofProcess::FinishOps() {
  const std::vector<uint32_t> lanes = NumberPlaces();
  const auto name_of = [&](uint32_t id) {
    if (id < symbols_.size() && symbols_[id] != kNone) return symbols_[id];
    return lexicon_->names.Intern(fmt::format("kernel {}", id));
  };
  for (TraceSink::Op& op : batch_.ops) {
    op.name = name_of(op.name);
    op.lane = lanes[op.lane];
  }
  for (TraceSink::Op op : copies_) {
    const NameId name = OperationName(op.name);
    op.name = name != kNone ? name : lexicon_->names.Intern("MEMORY_COPY");
    op.lane = lanes[op.lane];
    batch_.ops.push_back(op);
  }
}

void RocprofProcess::FinishCalls() {
  for (TraceSink::Call call : calls_) {
    const NameId name = OperationName(call.name);
    const bool is_hip = StartsWith(KindName(call.name), "HIP");
    const NameUse use =
        name == kNone || !is_hip ? NameUse{} : lexicon_->UseOf(name);
    if (!use.kept) continue;
    call.name = name;
    call.kind = use.kind;
    batch_.calls.push_back(call);
  }
  std::stable_sort(
      messages_.begin(), messages_.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (TraceSink::Call range : ranges_) {
    if (!StartsWith(KindName(range.name), "MARKER_CORE")) continue;
    NameId name = MessageOf(range.correlation);
    if (name == kNone) name = OperationName(range.name);
    if (name == kNone) continue;
    range.name = name;
    batch_.ranges.push_back(range);
  }
}

RocprofBatch RocprofProcess::Finish(std::vector<RocprofAgent>* agents) {
  FinishOps();
  FinishCalls();
  for (auto& [handle, agent] : agents_) agents->push_back(std::move(agent));
  return std::move(batch_);
}

}  // namespace inferdiff
