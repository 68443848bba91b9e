// SPDX-License-Identifier: Apache-2.0
// Through the elements of `traceEvents` in a stretch of text, one after the
// other: braces give the end of an event (kineto_extent.h), which is then read
// (kineto_event_reader.h).
//
// Text that is not JSON costs the event it stands in: the walk goes on at the
// next place that looks like the start of an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "readers/kineto_event_reader.h"
#include "readers/kineto_extent.h"
#include "readers/kineto_layout.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// Text in front of a place that tells whether an event begins there.
inline constexpr size_t kTextBefore = 64;

class EventWalker {
 public:
  enum class Stop : uint8_t {
    kLimit,     // an element starts at or behind the limit
    kNeedText,  // the element at `at` does not end within the text
    kEnd,       // behind the ] of the array
    kCut,       // the text is over, and the array is not
  };
  /// Where a walk begins.
  enum class From : uint8_t {
    kArray,    // at the [ of the array
    kBetween,  // in front of an element, a comma or the end
    kLost,     // within an event that was given up
  };
  struct Result {
    Stop stop;
    size_t at;
    bool lost = false;  // `at` lies within an event that was given up
  };

  /// Walks from `at` up to the first element that starts at or behind `limit`.
  /// Records go to `batch`. `final`: no more text will come. After kNeedText
  /// call again with more text, from where that result says.
  Result Walk(std::string_view text, size_t at, size_t limit, bool final,
              From from, RecordBatch* batch);

 private:
  /// What stands between events or in place of one: a plain value, an event
  /// that does not even begin like one, or bytes that are no element.
  enum class Junk : uint8_t { kValue, kBroken, kBytes, kNeedText };

  bool FindElement(size_t* at, From from, Result* result);
  bool IsArrayEnd(size_t at, bool* need_text) const;
  Junk JunkAt(size_t at, bool after_comma, size_t* end) const;
  bool TakeBroken(size_t* at, Result* result);
  bool LeaveLost(size_t* at, Result* result);

  ExtentFinder finder_;
  EventReader reader_;
  Literal separator_;  // between two events, the second's { excluded
  std::string_view text_;
  size_t limit_ = 0;
  bool final_ = false;
  RecordBatch* batch_ = nullptr;
};

}  // namespace inferdiff
