// SPDX-License-Identifier: Apache-2.0
// Through the elements of `traceEvents` in a stretch of text, one after the
// other, as fast as most of them allow.
//
// The braces of a block (json_scan.h) give the end of an event; a comparison
// with the text that events of this file begin with gives its category; most
// are done with then. A kept event is read by the layout learned from the last
// one of its kind: the text between its values is always the same. Whatever
// does not fit is parsed key by key, with the same result.
//
// Text that is not JSON costs the event it stands in: the walk goes on at the
// next place that looks like the start of an event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/json_scan.h"
#include "readers/kineto_layout.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// Bytes that must be readable behind the end of any text given to a walker.
inline constexpr size_t kTextPadding = 128;

/// Text in front of a place that tells whether an event begins there.
inline constexpr size_t kTextBefore = 64;

/// An event longer than this is given up: the walk resumes behind it.
inline constexpr size_t kLongestEvent = size_t{4} << 20;

class EventWalker {
 public:
  enum class Stop : uint8_t {
    kLimit,     // an element starts at or behind the limit
    kNeedText,  // the element at `at` does not end within the text
    kEnd,       // behind the ] of the array
    kCut,       // the text is over, and the array is not
  };
  struct Result {
    Stop stop;
    size_t at;
    bool lost = false;  // `at` lies within an event that was given up
  };

  /// Walks from `from`, at the [ or in front of an element, a comma or the end,
  /// up to the first element that starts at or behind `limit`. Records go to
  /// `batch`. `final`: no more text will come. Call again with more text from
  /// the same place on after kNeedText, and with the same `lost`.
  Result Walk(std::string_view text, size_t from, size_t limit, bool final,
              bool lost, RecordBatch* batch);

 private:
  /// Where an event and its args end.
  struct Extent {
    size_t end = 0;         // behind the closing brace
    size_t args_begin = 0;  // the second brace
    size_t args_end = 0;    // behind the last brace but one
    unsigned braces = 0;
  };
  enum class Found : uint8_t { kEvent, kBroken, kNeedText };
  /// What stands between events or in place of one: a plain value, an event
  /// that does not even begin like one, or bytes that are no element.
  enum class Junk : uint8_t { kValue, kBroken, kBytes, kNeedText };
  struct CatEntry {
    uint64_t head = 0;
    Literal text;  // with the closing quote
    EventKind kind = EventKind::kOther;
  };

  bool FindElement(size_t* at, Result* result);
  bool IsArrayEnd(size_t at, bool* need_text) const;
  Junk JunkAt(size_t at, bool after_comma, size_t* end) const;
  void Scan(size_t at, size_t length);
  Found FindExtent(size_t at, Extent* extent);
  Found Judge(size_t at, const Extent& extent) const;
  bool HasBadBits(size_t begin, size_t end) const;
  size_t QuoteFrom(size_t at) const;
  bool TakeBroken(size_t* at, Result* result);
  bool LeaveLost(size_t* at, Result* result);
  void TakeEvent(size_t at, const Extent& extent);
  bool TakeByLayout(size_t at, const Extent& extent);
  bool ReadFlatArgs(size_t begin, size_t end, EventFields* fields) const;
  bool ReadHead(const KindLayout& layout, const char** at, EventFields* fields,
                DecimalTime* ts, DecimalTime* dur) const;
  EventKind KindAt(const char* cat, const Literal** text);
  void TakeSlowly(std::string_view event, Strictness strictness,
                  const Extent* extent);

  LayoutCache layouts_;
  std::array<CatEntry, 16> cats_;

  std::string_view text_;
  size_t limit_ = 0;
  bool final_ = false;
  RecordBatch* batch_ = nullptr;

  // Bits of text_[origin_, scanned_), where origin_ is outside strings.
  std::vector<ScanBits> bits_;
  size_t origin_ = 0;
  size_t scanned_ = 0;
  bool any_bad_ = false;
};

}  // namespace inferdiff
