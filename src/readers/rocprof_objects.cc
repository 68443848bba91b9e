// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_objects.h"

#include "readers/digits.h"
#include "readers/json_fields.h"
#include "readers/kineto_boundary.h"
#include "readers/kineto_event_reader.h"
#include "readers/rocprof_number.h"

namespace inferdiff {
namespace {

constexpr std::string_view kSize = "\"size\"";

/// Records of all arrays begin with their size.
bool IsRecord(std::string_view text, size_t brace) {
  const size_t key = SkipJsonSpace(text, brace + 1);
  return text.substr(key, kSize.size()) == kSize;
}

RocprofArray ArrayOf(std::string_view key) {
  if (key == "kernel_dispatch") return RocprofArray::kKernels;
  if (key == "memory_copy") return RocprofArray::kCopies;
  if (key == "hip_api") return RocprofArray::kCalls;
  if (key == "marker_api") return RocprofArray::kMarkers;
  if (key == "kernel_symbols") return RocprofArray::kSymbols;
  if (key == "buffer_records") return RocprofArray::kKinds;
  if (key == "agents") return RocprofArray::kAgents;
  if (key == "metadata") return RocprofArray::kMetadata;
  return RocprofArray::kOther;
}

/// Where records of a kind stand: "HIP_RUNTIME_API" in "hip_api".
RocprofArray ArrayOfKind(std::string_view name) {
  if (name == "KERNEL_DISPATCH") return RocprofArray::kKernels;
  if (name == "MEMORY_COPY") return RocprofArray::kCopies;
  if (name.substr(0, 4) == "HIP_") return RocprofArray::kCalls;
  if (name.substr(0, 7) == "MARKER_") return RocprofArray::kMarkers;
  return RocprofArray::kOther;
}

using Slot = RocprofSlot;

/// Of any record.
struct RecordFields {
  uint64_t kind = 0, operation = 0, kernel = 0;
  int64_t thread = 0, correlation = 0, start_ns = 0, end_ns = 0;
  RocprofPlace place;
  bool has_start = false, has_end = false, out_of_range = false;
};

/// Of a scalar under `key`, in the object under `parent` or in the record.
Slot SlotOf(std::string_view parent, std::string_view key) {
  if (key == "handle") {
    if (parent == "agent_id" || parent == "src_agent_id") return Slot::kAgent;
    if (parent == "dst_agent_id") return Slot::kDestination;
    if (parent == "queue_id") return Slot::kQueue;
    if (parent == "stream_id") return Slot::kStream;
  } else if (!parent.empty()) {
    if (key == "internal") return Slot::kCorrelation;
    if (key == "kernel_id") return Slot::kKernel;
  } else {
    if (key == "start_timestamp") return Slot::kStart;
    if (key == "end_timestamp") return Slot::kEnd;
    if (key == "kind") return Slot::kKind;
    if (key == "operation") return Slot::kOperation;
    if (key == "thread_id") return Slot::kThread;
  }
  return Slot::kNothing;
}

bool ReadTime(std::string_view text, int64_t* ns, RecordFields* fields) {
  const bool good = ReadRocprofNumber(text, ns);
  fields->out_of_range |=
      !good && text.find_first_not_of("0123456789") == text.npos;
  return good;
}

void SetField(Slot slot, std::string_view text, RecordFields* fields) {
  RocprofPlace& place = fields->place;
  switch (slot) {
    case Slot::kNothing:
      break;
    case Slot::kKind:
      ReadRocprofNumber(text, &fields->kind);
      break;
    case Slot::kOperation:
      ReadRocprofNumber(text, &fields->operation);
      break;
    case Slot::kThread:
      ReadRocprofNumber(text, &fields->thread);
      break;
    case Slot::kCorrelation:
      ReadRocprofNumber(text, &fields->correlation);
      break;
    case Slot::kStart:
      fields->has_start = ReadTime(text, &fields->start_ns, fields);
      break;
    case Slot::kEnd:
      fields->has_end = ReadTime(text, &fields->end_ns, fields);
      break;
    case Slot::kKernel:
      ReadRocprofNumber(text, &fields->kernel);
      break;
    case Slot::kAgent:
      ReadRocprofNumber(text, &place.agent);
      break;
    case Slot::kDestination:
      ReadRocprofNumber(text, &place.destination);
      break;
    case Slot::kQueue:
      ReadRocprofNumber(text, &place.queue);
      break;
    case Slot::kStream:
      place.has_stream = ReadRocprofNumber(text, &place.stream);
      break;
  }
}

/// The number, of one to eighteen digits, at `p`; empty where there is none.
std::string_view ShortNumberAt(const char* p) {
  constexpr ptrdiff_t kMost = 18;
  const char* const end = SkipDigits(p);
  return {p, static_cast<size_t>(end - p > kMost ? 0 : end - p)};
}

/// A record written as the last one was: whole numbers, and the same text
/// around them.
bool ReadByLayout(const RocprofLayout& layout, std::string_view text,
                  RecordFields* fields) {
  if (layout.count == 0) return false;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (size_t i = 0; i < layout.count; ++i) {
    const RocprofLayout::Value& value = layout.values[i];
    if (!value.before.Matches(p)) return false;
    p += value.before.size();
    if (p >= end) return false;
    const std::string_view number = ShortNumberAt(p);
    if (number.empty()) return false;
    if (value.field != Slot::kNothing) SetField(value.field, number, fields);
    p += number.size();
  }
  return layout.tail.Matches(p) && p + layout.tail.size() == end;
}

/// Member by member; the layout is learned where others failed to fit for long.
bool ReadSlowly(std::string_view text, RocprofLayout* layout,
                RecordFields* fields) {
  const bool learn = layout->Learns();
  if (learn) layout->Begin();
  const char* from = text.data();  // behind the last value
  bool plain = true;
  const bool good =
      ForEachField(text, [&](std::string_view parent, std::string_view key,
                             std::string_view value, bool) {
        const Slot slot = SlotOf(parent, key);
        SetField(slot, value, fields);
        if (!learn) return;
        // In quotes, or an array: the number is not all of it.
        plain &= ShortNumberAt(value.data()).size() == value.size() &&
                 !value.empty() && value.data()[-1] != '"';
        layout->Add({from, static_cast<size_t>(value.data() - from)}, slot);
        from = value.data() + value.size();
      });
  if (learn && good && plain) {
    const char* const end = text.data() + text.size();
    layout->End({from, static_cast<size_t>(end - from)});
  }
  return good;
}

bool ReadRecord(std::string_view text, RocprofLayout* layout,
                RecordFields* fields) {
  if (ReadByLayout(*layout, text, fields)) {
    layout->misses = 0;
    return true;
  }
  *fields = {};
  return ReadSlowly(text, layout, fields);
}

/// Moves `text` behind `key` and the number behind that. False: there is
/// something else.
bool SkipMember(std::string_view key, std::string_view* text,
                uint64_t* number) {
  if (text->substr(0, key.size()) != key) return false;
  const char* const begin = text->data() + key.size();
  const char* const end = SkipDigits(begin);
  int64_t value = 0;
  if (!ParsePaddedDigits({begin, static_cast<size_t>(end - begin)}, &value)) {
    return false;
  }
  *number = static_cast<uint64_t>(value);
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

/// Kind and operation of a record that is written as all are:
/// {"size":48,"kind":5,"operation":212, ...
bool ReadHead(std::string_view text, uint64_t* kind, uint64_t* operation) {
  uint64_t size = 0;
  return SkipMember("{\"size\":", &text, &size) &&
         SkipMember(",\"kind\":", &text, kind) &&
         SkipMember(",\"operation\":", &text, operation) &&
         text.substr(0, 1) == ",";
}

}  // namespace

bool ParseRocprofKind(std::string_view text, RocprofKind* kind) {
  return ForEachField(text, [&](std::string_view, std::string_view key,
                                std::string_view value, bool) {
    if (key == "kind") kind->name = value;
    if (key != "operations" || value.empty()) return;
    const char* p = value.data();
    const char* const end = p + value.size();
    while ((p = std::find(p, end, '"')) != end) {
      const char* const close = FindStringEnd(p + 1, end);
      if (close == nullptr) return;
      kind->operations.emplace_back(p + 1, static_cast<size_t>(close - p - 1));
      p = close + 1;
    }
  });
}

bool RocprofObjects::State::operator==(const State& other) const {
  if (lost != other.lost || open != other.open || array != other.array) {
    return false;
  }
  if (kinds == other.kinds) return true;
  return kinds && other.kinds &&
         std::equal(kinds->begin(), kinds->end(), other.kinds->begin(),
                    other.kinds->end(), [](const auto& a, const auto& b) {
                      return a == b || *a == *b;
                    });
}

size_t RocprofObjects::Guess(std::string_view text, size_t from,
                             State* state) const {
  const size_t brace = FindStart(text, from);
  if (brace == text.npos) return brace;
  const size_t comma = LastJsonBefore(text, brace);
  const size_t before =
      comma == text.npos ? comma : LastJsonBefore(text, comma);
  uint64_t kind = ~uint64_t{0};
  ForEachField(text.substr(brace), [&](std::string_view, std::string_view key,
                                       std::string_view value, bool) {
    if (key == "kind") ReadRocprofNumber(value, &kind);
    return key == "size";  // the kind comes next
  });
  state->kinds = kinds_;
  state->open = true;
  state->array = kinds_ && kind < kinds_->size() ? (*kinds_)[kind]->array
                                                 : RocprofArray::kOther;
  return before == text.npos ? before : before + 1;
}

WalkEnd RocprofObjects::Walk(std::string_view text, size_t from, size_t limit,
                             bool final, State* state,
                             RocprofStretch* stretch) {
  state_ = state;
  stretch_ = stretch;
  if (stretch->parts.empty()) {
    stretch->parts.emplace_back().numbers = &numbers_;
  }
  const WalkEnd end = objects_.Walk(text, from, limit, final, state->lost,
                                    &stretch->nesting, &stretch->counters);
  state->lost = end.lost;
  return end;
}

/// The part is over: its rows are its own.
void RocprofObjects::KeepPart() {
  part().ops = kept_ops_.Keep(ops_);
  part().copies = kept_ops_.Keep(copies_);
  part().calls = kept_calls_.Keep(calls_);
  part().ranges = kept_calls_.Keep(ranges_);
  ops_.clear();
  copies_.clear();
  calls_.clear();
  ranges_.clear();
}

void RocprofObjects::Keep(RocprofStretch* stretch) {
  stretch_ = stretch;
  if (!stretch->parts.empty()) KeepPart();
}

void RocprofObjects::SetArray(std::string_view key) {
  state_->open = !key.empty() && key != "rocprofiler-sdk-tool";
  if (state_->open) state_->array = ArrayOf(key);
}

bool RocprofObjects::Enter(std::string_view text, size_t brace) {
  const size_t inside = SkipJsonSpace(text, brace + 1);
  constexpr std::string_view kMetadata = "\"metadata\"";
  if (text.substr(inside, kMetadata.size()) == kMetadata) {
    KeepPart();
    stretch_->parts.emplace_back().begins = true;
    part().numbers = &numbers_;
    state_->kinds.reset();
    state_->open = false;
    return true;
  }
  const size_t before = LastJsonBefore(text, brace);
  const char mark = before == text.npos ? '\0' : text[before];
  if (mark == '[') {
    const size_t colon = LastJsonBefore(text, before);
    const bool has_key = colon != text.npos && text[colon] == ':';
    SetArray(has_key ? JsonKeyBefore(text, colon) : std::string_view());
  } else if (mark != ':' && (state_->open ? mark == ',' : false)) {
    // The next one of the same array.
  } else if (mark != ':' && IsRecord(text, brace)) {
    // Damage in front may have closed what is still open.
    state_->open = state_->array != RocprofArray::kNowhere;
  } else if (mark != ',') {
    state_->open = false;
  }
  taken_ = state_->open ? state_->array : RocprofArray::kNowhere;
  if (mark == ':' && JsonKeyBefore(text, before) == "metadata") {
    taken_ = RocprofArray::kMetadata;
  }
  return taken_ == RocprofArray::kNowhere;
}

void RocprofObjects::Take(std::string_view object) {
  bool good = true;
  switch (taken_) {
    case RocprofArray::kKernels:
      good = TakeOp(object, false);
      break;
    case RocprofArray::kCopies:
      good = TakeOp(object, true);
      break;
    case RocprofArray::kCalls:
      good = TakeCall(object, false);
      break;
    case RocprofArray::kMarkers:
      // The strings' messages and the records stand under the same key.
      good = object.find("\"start_timestamp\"") == object.npos
                 ? TakeMessage(object)
                 : TakeCall(object, true);
      break;
    case RocprofArray::kSymbols:
      good = TakeSymbol(object);
      break;
    case RocprofArray::kKinds:
      NoteKind(object);
      [[fallthrough]];
    case RocprofArray::kAgents:
    case RocprofArray::kMetadata:
      part().others.emplace_back(taken_, object);
      part().others.back().second.append(kTextPadding, ' ');
      break;
    case RocprofArray::kNowhere:
    case RocprofArray::kOther:
      break;
  }
  if (!good) stretch_->counters.Add(Counter::kMalformedRecord);
}

/// Records hold no arrays of objects that begin as they do.
size_t RocprofObjects::FindStart(std::string_view text, size_t at) const {
  for (size_t key = text.find(kSize, at); key != text.npos;
       key = text.find(kSize, key + 1)) {
    const size_t brace = LastJsonBefore(text, key);
    if (brace == text.npos || brace < at || text[brace] != '{') continue;
    const size_t before = LastJsonBefore(text, brace);
    if (before == text.npos || before < at) continue;
    if ((text[before] == ',' || text[before] == '[') &&
        IsNearJson(text, brace)) {
      return brace;
    }
  }
  return text.npos;
}

/// The state is one of many: the table is copied, the kinds in it are not.
void RocprofObjects::NoteKind(std::string_view text) {
  constexpr size_t kMostKinds = 256;
  auto kinds = state_->kinds ? std::make_shared<Kinds>(*state_->kinds)
                             : std::make_shared<Kinds>();
  if (kinds->size() == kMostKinds) return;  // of others all calls are kept
  RocprofKind kind;
  ParseRocprofKind(text, &kind);  // its number counts, good or bad
  KindUse use;
  use.array = ArrayOfKind(kind.name);
  for (const std::string_view name : kind.operations) {
    const NameUse known = UseOfCall(name);
    use.kept.push_back(known.kept || known.begins_capture);
  }
  kinds->push_back(std::make_shared<const KindUse>(std::move(use)));
  state_->kinds = std::move(kinds);
}

bool RocprofObjects::TakeMessage(std::string_view text) {
  int64_t correlation = 0;
  std::string_view message;
  const bool good =
      ForEachField(text, [&](std::string_view, std::string_view key,
                             std::string_view value, bool) {
        if (key == "key") ReadRocprofNumber(value, &correlation);
        if (key == "value") message = value;
      });
  if (good) {
    part().messages.emplace_back(correlation, numbers_.texts.Intern(message));
  }
  return good;
}

/// The name as CSV files have it, else as the compiler wrote it.
bool RocprofObjects::TakeSymbol(std::string_view text) {
  uint64_t id = kMostRocprofSymbols;
  std::string_view formatted, demangled, mangled;
  const bool good =
      ForEachField(text, [&](std::string_view parent, std::string_view key,
                             std::string_view value, bool) {
        if (!parent.empty()) return;
        if (key == "kernel_id") ReadRocprofNumber(value, &id);
        if (key == "formatted_kernel_name") formatted = value;
        if (key == "demangled_kernel_name") demangled = value;
        if (key == "kernel_name") mangled = value;
      });
  if (!good || id >= kMostRocprofSymbols) return good;
  std::string_view name = formatted;
  if (name.empty()) name = demangled;
  if (name.empty()) name = mangled;
  part().symbols.emplace_back(static_cast<uint32_t>(id),
                              numbers_.texts.Intern(name));
  return true;
}

uint32_t RocprofObjects::PlaceNumber(const RocprofPlace& place) {
  auto& places = numbers_.places;
  if (!places.empty() && places[last_place_] == place) return last_place_;
  const auto [it, added] =
      place_index_.emplace(place, static_cast<uint32_t>(places.size()));
  if (added) places.push_back(place);
  return last_place_ = it->second;
}

uint32_t RocprofObjects::ThreadNumber(int64_t thread) {
  auto& threads = numbers_.threads;
  if (!threads.empty() && threads[last_thread_] == thread) return last_thread_;
  const auto [it, added] =
      thread_index_.emplace(thread, static_cast<uint32_t>(threads.size()));
  if (added) threads.push_back(thread);
  return last_thread_ = it->second;
}

bool RocprofObjects::TakeOp(std::string_view text, bool is_copy) {
  RocprofOrdinals& passed = stretch_->passed;
  const uint64_t ordinal = is_copy ? passed.copies++ : passed.kernels++;
  RecordFields fields;
  if (!ReadRecord(text, &layouts_[is_copy ? 1 : 0], &fields)) return false;
  ImportCounters& counters = stretch_->counters;
  if (!fields.has_start || !fields.has_end) {
    counters.Add(fields.out_of_range ? Counter::kTimeOutOfRange
                                     : Counter::kMissingField);
    return true;
  }
  if (fields.start_ns == 0) counters.Add(Counter::kClampedStart);
  fields.place.is_copy = is_copy;
  TraceSink::Op op;
  op.start_ns = fields.start_ns;
  op.end_ns = fields.end_ns;
  op.correlation = fields.correlation;
  op.ordinal = ordinal;
  op.lane = PlaceNumber(fields.place);
  if (is_copy) op.kind = OpKind::kMemcpy;
  op.name =
      is_copy
          ? RocprofCodeOf(fields.kind, fields.operation)
          : static_cast<NameId>(std::min(fields.kernel, kMostRocprofSymbols));
  (is_copy ? copies_ : ops_).push_back(op);
  return true;
}

/// Whether a call of this kind and operation is of interest, as far as that is
/// known.
bool RocprofObjects::IsKept(uint64_t kind, uint64_t operation) const {
  if (!state_->kinds || kind >= state_->kinds->size()) return true;
  const std::vector<bool>& kept = (*state_->kinds)[kind]->kept;
  return operation < kept.size() && kept[operation];
}

bool RocprofObjects::TakeCall(std::string_view text, bool is_range) {
  RocprofOrdinals& passed = stretch_->passed;
  const uint64_t ordinal = is_range ? passed.ranges++ : passed.calls++;
  RecordFields fields;
  // Most calls launch nothing: what they are stands in front.
  if (!is_range && ReadHead(text, &fields.kind, &fields.operation) &&
      !IsKept(fields.kind, fields.operation)) {
    return true;
  }
  if (!ReadRecord(text, &layouts_[is_range ? 3 : 2], &fields)) return false;
  if (!is_range && !IsKept(fields.kind, fields.operation)) return true;
  if (!fields.has_start || !fields.has_end) return true;
  TraceSink::Call call;
  call.start_ns = fields.start_ns;
  call.end_ns = fields.end_ns;
  call.correlation = fields.correlation;
  call.ordinal = ordinal;
  call.name = RocprofCodeOf(fields.kind, fields.operation);
  call.thread = ThreadNumber(fields.thread);
  (is_range ? ranges_ : calls_).push_back(call);
  return true;
}

}  // namespace inferdiff
