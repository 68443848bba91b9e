// SPDX-License-Identifier: Apache-2.0
// One event's text -> a record.
//
// A comparison with the text that events of this file begin with gives the
// category; most events are done with then. A kept one is read by the layout
// learned from the last one of its kind: the text between its values is always
// the same. Whatever does not fit is parsed key by key, with the same result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "readers/kineto_extent.h"
#include "readers/kineto_layout.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// Bytes that must be readable behind the end of any text given to a reader.
inline constexpr size_t kTextPadding = 128;

class EventReader {
 public:
  /// Events of `text` come next, their extents found by `finder`; records go
  /// to `batch`.
  void Start(std::string_view text, const ExtentFinder* finder,
             RecordBatch* batch) {
    text_ = text;
    finder_ = finder;
    batch_ = batch;
  }
  /// The event at `at`, as found.
  void Take(size_t at, const Extent& extent);
  /// Text that is not JSON but seems to be an event.
  void TakeBroken(std::string_view event) {
    TakeSlowly(event, Strictness::kLenient, nullptr);
  }

 private:
  struct CatEntry {
    uint64_t head = 0;
    Literal text;  // with the closing quote
    EventKind kind = EventKind::kOther;
  };

  bool TakeByLayout(size_t at, const Extent& extent);
  bool ReadArgs(const ArgsLayout& layout, const char* p, const char* end,
                EventFields* fields) const;
  bool ReadFlatArgs(size_t begin, size_t end, EventFields* fields,
                    ArgsLayout* learned);
  const char* SkipFlatValue(const char* p) const;
  bool ReadHead(const KindLayout& layout, const char* args, const char** at,
                EventFields* fields, DecimalTime* ts, DecimalTime* dur) const;
  EventKind KindAt(const char* cat, const Literal** text);
  void TakeSlowly(std::string_view event, Strictness strictness,
                  const Extent* extent);

  LayoutCache layouts_;
  EventFields fields_;  // read by a layout; those of another event before that
  std::array<CatEntry, 16> cats_;
  std::string_view text_;
  const ExtentFinder* finder_ = nullptr;
  RecordBatch* batch_ = nullptr;
};

}  // namespace inferdiff
