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

void RocprofPart::Restart() {
  begins = false;
  ops.clear();
  calls.clear();
  ranges.clear();
  places.clear();
  threads.clear();
  symbols.clear();
  messages.clear();
  others.clear();
  numbers = nullptr;
}

void RocprofStretch::Restart() {
  if (!parts.empty()) {
    parts.resize(1);
    parts[0].Restart();
  }
  passed = {};
  nesting = {};
  counters = {};
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
  RocprofArray array = RocprofArray::kOther;
  ForEachField(text.substr(brace), [&](std::string_view, std::string_view key,
                                       std::string_view value, bool) {
    if (key == "kind") ReadRocprofNumber(value, &kind);
    if (key == "kernel_id") array = RocprofArray::kSymbols;
    return key == "size";  // what tells comes next
  });
  state->kinds = kinds_;
  state->open = true;
  state->array =
      kinds_ && kind < kinds_->size() ? (*kinds_)[kind]->array : array;
  return before == text.npos ? before : before + 1;
}

WalkEnd RocprofObjects::Walk(std::string_view text, size_t from, size_t limit,
                             bool final, State* state,
                             RocprofStretch* stretch) {
  state_ = state;
  stretch_ = stretch;
  if (stretch->parts.empty()) stretch->parts.emplace_back();
  part().numbers = &numbers_;
  const WalkEnd end = objects_.Walk(text, from, limit, final, state->lost,
                                    &stretch->nesting, &stretch->counters);
  state->lost = end.lost;
  return end;
}

void RocprofObjects::NextPart() {
  used_places_.NextBatch();
  used_threads_.NextBatch();
}

void RocprofObjects::End() { NextPart(); }

void RocprofObjects::SetArray(std::string_view key) {
  state_->open = !key.empty() && key != "rocprofiler-sdk-tool";
  if (state_->open) state_->array = ArrayOf(key);
}

bool RocprofObjects::Enter(std::string_view text, size_t brace) {
  const size_t inside = SkipJsonSpace(text, brace + 1);
  constexpr std::string_view kMetadata = "\"metadata\"";
  if (text.substr(inside, kMetadata.size()) == kMetadata) {
    NextPart();
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
    part().messages.emplace_back(correlation, Text(message));
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
  part().symbols.emplace_back(static_cast<uint32_t>(id), Text(name));
  return true;
}

uint32_t RocprofObjects::PlaceNumber(const RocprofPlace& place) {
  auto& places = numbers_.places;
  if (places.empty() || places[last_place_] != place) {
    const auto [it, added] =
        place_index_.emplace(place, static_cast<uint32_t>(places.size()));
    if (added) places.push_back(place);
    last_place_ = it->second;
  }
  if (used_places_.IsFirst(last_place_)) {
    part().places.push_back({last_place_, place});
  }
  return last_place_;
}

uint32_t RocprofObjects::ThreadNumber(int64_t thread) {
  auto& threads = numbers_.threads;
  if (threads.empty() || threads[last_thread_] != thread) {
    const auto [it, added] =
        thread_index_.emplace(thread, static_cast<uint32_t>(threads.size()));
    if (added) threads.push_back(thread);
    last_thread_ = it->second;
  }
  if (used_threads_.IsFirst(last_thread_)) {
    part().threads.push_back({last_thread_, thread});
  }
  return last_thread_;
}

bool RocprofObjects::TakeOp(std::string_view text, bool is_copy) {
  RocprofOrdinals& passed = stretch_->passed;
  const uint64_t ordinal = is_copy ? passed.copies++ : passed.kernels++;
  RocprofFields fields;
  if (!ReadRocprofRecord(text, &layouts_[is_copy ? 1 : 0], &fields))
    return false;
  KeepOp(fields, is_copy, ordinal);
  return true;
}

void RocprofObjects::KeepOp(const RocprofFields& fields, bool is_copy,
                            uint64_t ordinal) {
  ImportCounters& counters = stretch_->counters;
  if (!fields.Has(Slot::kStart) || !fields.Has(Slot::kEnd)) {
    counters.Add(fields.out_of_range ? Counter::kTimeOutOfRange
                                     : Counter::kMissingField);
    return;
  }
  TraceSink::Op op;
  op.start_ns = fields.Signed(Slot::kStart);
  op.end_ns = fields.Signed(Slot::kEnd);
  if (op.start_ns == 0) counters.Add(Counter::kClampedStart);
  op.correlation = fields.Signed(Slot::kCorrelation);
  op.ordinal = ordinal;
  op.lane = PlaceNumber({fields[Slot::kAgent], fields[Slot::kDestination],
                         fields[Slot::kQueue], fields[Slot::kStream],
                         fields.Has(Slot::kStream), is_copy});
  if (is_copy) op.kind = OpKind::kMemcpy;
  op.name = is_copy
                ? RocprofCodeOf(fields[Slot::kKind], fields[Slot::kOperation])
                : static_cast<NameId>(
                      std::min(fields[Slot::kKernel], kMostRocprofSymbols));
  part().ops.push_back(op);
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
  RocprofLayout& layout = layouts_[is_range ? 3 : 2];
  // Most calls launch nothing: what they are stands in front.
  uint64_t kind = 0;
  uint64_t operation = 0;
  if (!is_range && layout.count > 0 && ReadHead(text, &kind, &operation) &&
      !IsKept(kind, operation)) {
    return true;
  }
  RocprofFields fields;
  if (!ReadRocprofRecord(text, &layout, &fields)) return false;
  KeepCall(fields, is_range, ordinal);
  return true;
}

void RocprofObjects::KeepCall(const RocprofFields& fields, bool is_range,
                              uint64_t ordinal) {
  const uint64_t kind = fields[Slot::kKind];
  const uint64_t operation = fields[Slot::kOperation];
  if (!is_range && !IsKept(kind, operation)) return;
  if (!fields.Has(Slot::kStart) || !fields.Has(Slot::kEnd)) return;
  TraceSink::Call call;
  call.start_ns = fields.Signed(Slot::kStart);
  call.end_ns = fields.Signed(Slot::kEnd);
  call.correlation = fields.Signed(Slot::kCorrelation);
  call.ordinal = ordinal;
  call.name = RocprofCodeOf(kind, operation);
  call.thread = ThreadNumber(fields.Signed(Slot::kThread));
  (is_range ? part().ranges : part().calls).push_back(call);
}

/// Records of one array follow each other by a comma alone.
size_t RocprofObjects::TakeAlike(std::string_view text, size_t at,
                                 size_t limit) {
  const bool is_call = taken_ == RocprofArray::kCalls;
  const bool is_copy = taken_ == RocprofArray::kCopies;
  if (!is_call && !is_copy && taken_ != RocprofArray::kKernels) return at;
  const RocprofLayout& layout = layouts_[is_call ? 2 : is_copy ? 1 : 0];
  RocprofOrdinals& passed = stretch_->passed;
  const char* const end = text.data() + text.size();
  while (at < std::min(limit, text.size()) && text[at] == ',') {
    RocprofFields fields;
    const char* const behind =
        ReadRocprofByLayout(layout, text.data() + at + 1, end, &fields);
    if (behind == nullptr) break;
    at = static_cast<size_t>(behind - text.data());
    if (is_call) {
      KeepCall(fields, false, passed.calls++);
    } else {
      KeepOp(fields, is_copy, is_copy ? passed.copies++ : passed.kernels++);
    }
  }
  return at;
}

}  // namespace inferdiff
