// SPDX-License-Identifier: Apache-2.0
// One element of `traceEvents`: text in, fields out.
//
//   {"ph": "X", "cat": "kernel", "name": "nvjet_sm90", "pid": 0, "tid": 7,
//    "ts": 5115527810780.217, "dur": 7.488,
//    "args": {"device": 0, "stream": 7, "correlation": 34064}}
//
// ph X is an activity with a duration; cat says of what. pid and tid are the
// device and the stream of a GPU activity, the process and the thread of a
// host call. ts and dur are microseconds in decimal text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/counters.h"

namespace inferdiff {

/// A scalar as it stands in the text, without its quotes.
struct JsonScalar {
  std::string_view text;
  bool present = false;
  bool quoted = false;
};

/// The fields of an event that anybody asks for. Of keys that stand twice the
/// last one holds, but for `ph` and `cat`: there the first decides, so that an
/// event of no interest can be skipped without a look at the rest.
struct EventFields {
  JsonScalar ph, cat, name, pid, tid, ts, dur;
  JsonScalar correlation, device, group, group_ranks;  // of args
};

/// The field that the value of a key of args belongs to; nullptr: none.
inline JsonScalar EventFields::*FieldOfArg(std::string_view key) {
  switch (key.size()) {
    case 6:
      return key == "device" ? &EventFields::device : nullptr;
    case 11:
      return key == "correlation" ? &EventFields::correlation : nullptr;
    case 18:
      return key == "Process Group Name" ? &EventFields::group : nullptr;
    case 19:
      return key == "Process Group Ranks" ? &EventFields::group_ranks : nullptr;
    default:
      return nullptr;
  }
}

enum class Strictness : uint8_t {
  kStrict,
  /// A quote ends a string only where the text after it can follow a string:
  /// names with stray quotes come out whole.
  kLenient,
};

/// Parses the object that starts at text[0] == '{'. Returns the offset behind
/// its closing brace, or nothing when it is malformed or does not end within
/// `text`. Bare inf and nan and overlong integers in ignored fields are
/// accepted and counted.
std::optional<size_t> ParseEvent(std::string_view text, Strictness strictness,
                                 EventFields* fields, ImportCounters* counters);

/// Finds the first ph and the first cat; stops there, or at a ph other than X.
/// False when the text is malformed before that.
bool FindKind(std::string_view text, EventFields* fields);

/// Whether ph is X: an activity with a duration.
bool IsActivity(const EventFields& fields);

/// What an activity is to this reader, by cat, escapes not resolved.
enum class EventKind : uint8_t {
  kOther,
  kKernel,
  kMemcpy,
  kMemset,
  kHostCall,
  kHostRange,
  kGpuRange,
  /// The category of 2021 for framework ops, among them the profiler's steps.
  kOldOperator,
  kProfiler,  // host time of the profiler itself
  kCount
};
EventKind KindOf(std::string_view cat);

/// A time as microseconds in decimal text, in ns.
struct DecimalTime {
  int64_t ns = 0;
  /// Digits behind the point (3 = all), for files whose writer did not pad
  /// them. 0 = none.
  uint8_t fraction_digits = 0;
};

enum class TimeError : uint8_t { kOk, kNotANumber, kOutOfRange };

/// Exact: digits beyond the ns are rounded to nearest, half away from zero.
/// |time| <= 2^53 us.
TimeError ParseTime(std::string_view text, DecimalTime* time);

/// ParseTime for the common form, digits.digits with at most three behind the
/// point, at the start of readable text of 24 bytes and more. Returns the end
/// of the number; nullptr: use ParseTime.
const char* ParsePlainTime(const char* text, DecimalTime* time);

/// Whole text as an int64, with a sign or without.
std::optional<int64_t> ParseInteger(std::string_view text);

/// The same of a decimal number without a fraction: 7, 7.0 and 7e0.
std::optional<int64_t> ParseWholeNumber(std::string_view text);

}  // namespace inferdiff
