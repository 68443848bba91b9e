// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_records.h"

#include <initializer_list>

namespace inferdiff {
namespace {

bool StartsWithAny(std::string_view text,
                   std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (text.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

int64_t CorrelationOf(const JsonScalar& scalar, ImportCounters* counters) {
  if (!scalar.present) return 0;
  const std::optional<int64_t> value = ParseInteger(scalar.text);
  if (!value) counters->Add(Counter::kHugeInteger);
  return value.value_or(0);
}

}  // namespace

NameUse UseOfCall(std::string_view name) {
  if (StartsWithAny(name, {"cuda", "hip"})) {
    name.remove_prefix(name[0] == 'c' ? 4 : 3);
  } else if (StartsWithAny(name, {"cu"})) {
    name.remove_prefix(2);
  }
  if (StartsWithAny(name, {"GraphLaunch"})) {
    return {true, CallKind::kGraphLaunch};
  }
  if (Contains(name, "Launch") && Contains(name, "Kernel")) {
    return {true, CallKind::kKernelLaunch};
  }
  if (Contains(name, "Synchronize")) return {true, CallKind::kSync};
  if (StartsWithAny(name, {"Memcpy"})) return {true, CallKind::kMemcpy};
  if (StartsWithAny(name, {"Memset"})) return {true, CallKind::kMemset};
  if (!Contains(name, "Async") &&
      StartsWithAny(name, {"Malloc", "Free", "Host", "Mem"}) &&
      (Contains(name, "lloc") || Contains(name, "Free") ||
       Contains(name, "Create") || Contains(name, "Map") ||
       Contains(name, "Unmap") || Contains(name, "Release"))) {
    return {true, CallKind::kAlloc};
  }
  return {};
}

uint32_t Lexicon::Track(std::string_view pid, std::string_view tid) {
  std::string key;
  key.reserve(pid.size() + 1 + tid.size());
  key.append(pid).append(1, '\x1f').append(tid);
  return track_keys.Intern(key);
}

NameUse Lexicon::UseOf(uint32_t name) {
  while (use_of_name.size() <= name) {
    use_of_name.push_back(
        UseOfCall(names[static_cast<NameId>(use_of_name.size())]));
  }
  return use_of_name[name];
}

void FractionEvidence::Note(std::string_view time_text) {
  const size_t point = time_text.find('.');
  if (point == std::string_view::npos) return;
  const std::string_view digits = time_text.substr(point + 1);
  if (digits.size() > 3 || digits.empty() || digits == "0") return;
  if (digits.size() > 1 && digits[0] == '0') padded = true;
  if (digits.size() == 2 && digits[1] == '0') unpadded = true;
  if (digits.size() < 3) short_one = true;
  if (digits.size() == 3 && digits[2] == '0') full_trailing_zero = true;
}

void FractionEvidence::Merge(const FractionEvidence& other) {
  padded |= other.padded;
  unpadded |= other.unpadded;
  short_one |= other.short_one;
  full_trailing_zero |= other.full_trailing_zero;
}

void AddEvent(const EventFields& fields, EventKind kind, uint64_t ordinal,
              RecordBatch* batch) {
  if (kind == EventKind::kOldOperator) {
    if (fields.name.text.substr(0, 12) != "ProfilerStep") return;
    kind = EventKind::kHostRange;
  }
  const bool is_op = kind == EventKind::kKernel || kind == EventKind::kMemcpy ||
                     kind == EventKind::kMemset;
  DecimalTime start;
  DecimalTime dur;
  TimeError error = TimeError::kNotANumber;
  if (fields.name.present && fields.ts.present && fields.dur.present) {
    error = ParseTime(fields.ts.text, &start);
    if (error == TimeError::kOk) error = ParseTime(fields.dur.text, &dur);
  }
  if (error != TimeError::kOk) {
    batch->counters.Add(error == TimeError::kOutOfRange
                            ? Counter::kTimeOutOfRange
                            : Counter::kMissingField);
    return;
  }
  EventRecord record{};
  record.name = batch->lexicon->names.Intern(fields.name.text);
  if (kind == EventKind::kHostCall) {
    const NameUse use = batch->lexicon->UseOf(record.name);
    if (!use.kept) return;
    record.kind = static_cast<uint8_t>(use.kind);
  }
  if (is_op) {
    record.kind = static_cast<uint8_t>(
        kind == EventKind::kKernel
            ? OpKind::kKernel
            : (kind == EventKind::kMemcpy ? OpKind::kMemcpy : OpKind::kMemset));
    if (start.ns == 0) batch->counters.Add(Counter::kClampedStart);
  }
  if (dur.ns < 0) {
    batch->counters.Add(Counter::kNegativeDuration);
    dur.ns = 0;
  }
  batch->fractions.Note(fields.ts.text);
  record.start_ns = start.ns;
  record.dur_ns = dur.ns;
  record.digits =
      static_cast<uint8_t>(start.fraction_digits | dur.fraction_digits << 4);
  record.set_ordinal(ordinal);
  if (is_op || kind == EventKind::kHostCall) {
    record.correlation = CorrelationOf(fields.correlation, &batch->counters);
  }
  // A device that the pid does not name stands in the args.
  std::string_view pid = fields.pid.text;
  if (is_op && fields.device.present &&
      (pid.empty() || pid.find_first_of("0123456789") == pid.npos)) {
    pid = fields.device.text;
  }
  record.track = batch->lexicon->Track(pid, fields.tid.text);
  if (is_op) {
    batch->ops.push_back(record);
  } else if (kind == EventKind::kHostCall) {
    batch->calls.push_back(record);
  } else {
    record.kind = kind == EventKind::kGpuRange;
    batch->annotations.push_back(record);
  }
}

}  // namespace inferdiff
