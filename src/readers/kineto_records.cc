// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_records.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "readers/json_text.h"
#include "readers/kineto_tracks.h"

namespace inferdiff {
namespace {

int64_t CorrelationOf(const JsonScalar& scalar, ImportCounters* counters) {
  if (!scalar.present) return 0;
  const std::optional<int64_t> value = ParseWholeNumber(scalar.text);
  // A bare one was counted when it was read.
  if (!value && scalar.quoted && !scalar.text.empty() &&
      scalar.text.find_first_not_of("0123456789") == scalar.text.npos) {
    counters->Add(Counter::kHugeInteger);
  }
  return value.value_or(0);
}

std::optional<OpKind> OpKindOf(EventKind kind) {
  switch (kind) {
    case EventKind::kKernel:
      return OpKind::kKernel;
    case EventKind::kMemcpy:
      return OpKind::kMemcpy;
    case EventKind::kMemset:
      return OpKind::kMemset;
    default:
      return std::nullopt;
  }
}

bool IsKept(const EventFields& call, RecordBatch* batch) {
  if (!call.name.present) return true;  // to be counted
  Lexicon* const lexicon = batch->lexicon;
  const NameUse use = lexicon->UseOf(lexicon->names.Intern(call.name.text));
  return use.kept || use.begins_capture;
}

/// A device that the pid does not name stands in the args.
std::string_view PidOf(const EventFields& fields, bool on_gpu,
                       std::string* joined) {
  const std::string_view pid = fields.pid.text;
  if (!on_gpu || !fields.device.present) return pid;
  const std::string_view scope = ScopeOf(pid);
  if (TrackNumber(pid.substr(scope.size()))) return pid;
  *joined = scope;
  return joined->append(fields.device.text);
}

/// Of the op that comes next.
void AddGroup(const EventFields& fields, RecordBatch* batch) {
  std::string text(fields.group.text);
  if (fields.group_ranks.present)
    text.append(1, ' ').append(fields.group_ranks.text);
  batch->groups.push_back({static_cast<uint32_t>(batch->ops.size()),
                           batch->lexicon->names.Intern(text)});
}

}  // namespace

uint32_t Lexicon::NameOf(std::string_view text, bool on_gpu) {
  NameChain& chain = chains[on_gpu ? 1 : 0];
  if (chain.last < chain.next.size()) {
    const uint32_t guess = chain.next[chain.last];
    if (names[guess] == text) return chain.last = guess;
  }
  const NameId name = names.Intern(text);
  if (chain.next.size() < names.size()) chain.next.resize(names.size(), 0);
  chain.next[chain.last] = name;
  return chain.last = name;
}

uint32_t Lexicon::TrackOf(const EventFields& fields, bool on_gpu) {
  const std::string_view pid = fields.pid.text;
  const std::string_view tid = fields.tid.text;
  const JsonScalar device = on_gpu ? fields.device : JsonScalar{};
  const size_t digit = tid.empty() ? 0 : static_cast<uint8_t>(tid.back()) % 8;
  SeenTrack& seen = seen_tracks[digit * 2 + (on_gpu ? 1 : 0)];
  if (!seen.known || seen.pid != pid || seen.tid != tid ||
      seen.has_device != device.present || seen.device != device.text) {
    std::string joined;
    std::string key(PidOf(fields, on_gpu, &joined));
    key.append(1, '\x1f').append(tid);
    seen = {true,
            device.present,
            std::string(pid),
            std::string(tid),
            std::string(device.text),
            track_keys.Intern(key)};
  }
  return seen.track;
}

void RecordBatch::Restart() {
  ops.clear();
  calls.clear();
  annotations.clear();
  elements = 0;
  counters = {};
  fractions = {};
  groups.clear();
}

std::span<EventRecord> RecordStore::Store(
    const std::vector<EventRecord>& records, std::vector<Block>* blocks) {
  if (records.empty()) return {};
  const size_t size = records.size();
  if (blocks->empty() || blocks->back().capacity - blocks->back().size < size) {
    // Each is four times the one in front, up to a huge page.
    constexpr size_t kFirst = size_t{32} << 10;
    constexpr size_t kMost = size_t{2} << 20;
    const size_t usual = kFirst << 2 * std::min<size_t>(blocks->size(), 3);
    const size_t bytes =
        std::max(std::min(usual, kMost), size * sizeof(EventRecord));
    blocks->push_back({NewHuge(bytes), 0, bytes / sizeof(EventRecord)});
  }
  Block& block = blocks->back();
  auto* const place =
      static_cast<EventRecord*>(block.memory.get()) + block.size;
  std::memcpy(place, records.data(), size * sizeof(EventRecord));
  block.size += size;
  return {place, size};
}

StoredBatch RecordStore::Keep(const RecordBatch& batch) {
  StoredBatch stored;
  static_cast<BatchFacts&>(stored) = batch;
  stored.ops = Store(batch.ops, &ops_);
  stored.calls = Store(batch.calls, &host_);
  stored.annotations = Store(batch.annotations, &host_);
  return stored;
}

NameUse Lexicon::UseOf(uint32_t name) {
  while (use_of_name.size() <= name) {
    const std::string_view raw = names[static_cast<NameId>(use_of_name.size())];
    use_of_name.push_back(UseOfCall(DecodeJsonText(raw).text));
  }
  return use_of_name[name];
}

void FractionEvidence::Note(const DecimalTime& time) {
  const int64_t fraction = time.ns % 1000;  // padded on the right
  switch (time.fraction_digits) {
    case 1:
      short_one |= fraction != 0;
      break;
    case 2:
      short_one = true;
      padded |= fraction < 100;
      unpadded |= fraction % 100 == 0;
      break;
    case 3:
      padded |= fraction < 100;
      full_trailing_zero |= fraction % 10 == 0;
      break;
    default:
      break;
  }
}

void FractionEvidence::Merge(const FractionEvidence& other) {
  padded |= other.padded;
  unpadded |= other.unpadded;
  short_one |= other.short_one;
  full_trailing_zero |= other.full_trailing_zero;
}

namespace {

/// What the driver does by itself costs as much without a profiler.
bool IsTheDrivers(std::string_view overhead) {
  constexpr std::string_view kNames[] = {
      "Command Buffer Full", "Driver Compiler", "Lazy Function Loading",
      "Runtime Triggered Module Loading"};
  return std::find(std::begin(kNames), std::end(kNames), overhead) !=
         std::end(kNames);
}

RangeKind RangeKindOf(EventKind kind) {
  if (kind == EventKind::kProfiler) return RangeKind::kProfiler;
  return kind == EventKind::kGpuRange ? RangeKind::kGpu : RangeKind::kHost;
}

}  // namespace

void AddEvent(const EventFields& fields, EventKind kind, uint64_t ordinal,
              RecordBatch* batch) {
  if (kind == EventKind::kHostCall && !IsKept(fields, batch)) return;
  DecimalTime start;
  DecimalTime dur;
  TimeError error = TimeError::kNotANumber;
  if (fields.name.present && fields.ts.present && fields.dur.present) {
    error = ParseTime(fields.ts.text, &start);
    if (error == TimeError::kOk) error = ParseTime(fields.dur.text, &dur);
  }
  if (error == TimeError::kOk) {
    AddTimedEvent(fields, start, dur, kind, ordinal, batch);
    return;
  }
  batch->counters.Add(error == TimeError::kOutOfRange ? Counter::kTimeOutOfRange
                                                      : Counter::kMissingField);
}

void AddTimedEvent(const EventFields& fields, DecimalTime start,
                   DecimalTime dur, EventKind kind, uint64_t ordinal,
                   RecordBatch* batch) {
  if (kind == EventKind::kOldOperator) {
    if (fields.name.text.substr(0, 12) != "ProfilerStep") return;
    kind = EventKind::kHostRange;
  }
  if (kind == EventKind::kProfiler && IsTheDrivers(fields.name.text)) return;
  EventRecord record{};
  const std::optional<OpKind> op = OpKindOf(kind);
  record.name = batch->lexicon->NameOf(fields.name.text, op.has_value());
  if (kind == EventKind::kHostCall) {
    const NameUse use = batch->lexicon->UseOf(record.name);
    if (use.begins_capture) batch->counters.Add(Counter::kGraphCapture);
    if (!use.kept) return;
    record.kind = static_cast<uint8_t>(use.kind);
  }
  if (op) {
    record.kind = static_cast<uint8_t>(*op);
    if (start.ns == 0) batch->counters.Add(Counter::kClampedStart);
  }
  if (dur.ns < 0) {
    batch->counters.Add(Counter::kNegativeDuration);
    dur.ns = 0;
  }
  batch->fractions.Note(start);
  record.start_ns = start.ns;
  record.dur_ns = dur.ns;
  record.digits =
      static_cast<uint8_t>(start.fraction_digits | dur.fraction_digits << 4);
  record.set_ordinal(ordinal);
  if (op || kind == EventKind::kHostCall) {
    record.correlation = CorrelationOf(fields.correlation, &batch->counters);
  }
  const bool on_gpu = op || kind == EventKind::kGpuRange;
  record.track = batch->lexicon->TrackOf(fields, on_gpu);
  if (op) {
    if (fields.group.present) AddGroup(fields, batch);
    batch->ops.push_back(record);
  } else if (kind == EventKind::kHostCall) {
    batch->calls.push_back(record);
  } else {
    record.kind = static_cast<uint8_t>(RangeKindOf(kind));
    batch->annotations.push_back(record);
  }
}

}  // namespace inferdiff
