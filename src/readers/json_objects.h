// SPDX-License-Identifier: Apache-2.0
// Through the objects of a JSON text that hold something, one after the other.
//
//   {"kernel_dispatch": [{...}, {...}, ...], "hip_api": [{...}, ...]}
//   ^entered             ^taken ^taken
//
// Files have hundreds of megabytes on one line. Objects are found by their
// braces (json_scan.h); whoever asks tells by the text in front of them which
// are entered and which taken whole. Text that is not JSON costs the object it
// stands in; the walk goes on at the next place that looks like the start of
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "model/counters.h"
#include "readers/json_scan.h"
#include "readers/reader.h"
#include "readers/walk_end.h"

namespace inferdiff {

class JsonObjectSink {
 public:
  virtual ~JsonObjectSink() = default;
  /// The object that begins at text[brace], 256 bytes of it at least: false if
  /// it is to be taken whole. `text` begins behind the last object that began
  /// or ended. May be called twice for one that is taken.
  virtual bool Enter(std::string_view text, size_t brace) = 0;
  /// What was entered has ended.
  virtual void Leave() = 0;
  virtual void Take(std::string_view object) = 0;
  /// Behind an object that was taken, at text[at]: takes those that follow it
  /// and are written like one in front, so that their braces need not be looked
  /// for, up to the first place at or behind `limit`. Returns where they end.
  virtual size_t TakeAlike(std::string_view /*text*/, size_t at,
                           size_t /*limit*/) {
    return at;
  }
  /// The first { at or behind `at` where an object to take seems to begin, a
  /// comma or a [ not in front of `at` before it, and that IsNearJson; npos:
  /// none. Behind damage.
  virtual size_t FindStart(std::string_view text, size_t at) const = 0;
};

/// The place of the last character in front of `at` that is no space; npos:
/// none.
size_t LastJsonBefore(std::string_view text, size_t at);

/// Whether a comma or bracket and the first key stand so near to the { at
/// `brace` that no end of a block parts them.
bool IsNearJson(std::string_view text, size_t brace);

/// The key whose colon stands at `colon`; empty where there is none.
std::string_view JsonKeyBefore(std::string_view text, size_t colon);

/// What a stretch of text opens and closes.
struct JsonNesting {
  int64_t change = 0;  // of the number of open objects
  int64_t open = 0;    // where none is at its begin; more are closed than that
  bool damaged = false;
  bool cut = false;  // the text ends within an object

  /// With the stretch behind it.
  void Join(const JsonNesting& next);
  /// Of a whole text: whether all that was opened was closed.
  bool whole() const { return !cut && (open == 0 || damaged); }
};

class JsonObjects {
 public:
  explicit JsonObjects(JsonObjectSink* sink) : sink_(sink) {}

  /// Walks from `from`, between two objects (or within one that is `lost`), to
  /// the first place at or behind `limit` that is between two. The text is
  /// readable for kTextPadding bytes behind its end. `final`: there is no more
  /// behind it.
  WalkEnd Walk(std::string_view text, size_t from, size_t limit, bool final,
               bool lost, JsonNesting* nesting, ImportCounters* counters);

 private:
  void Scan(size_t at, size_t length);
  size_t NextBrace(size_t at) const;
  bool HasBad(size_t begin, size_t end) const;
  size_t EndOf(size_t brace, bool* broken);
  bool Resume(size_t* at);
  bool TakeNext(size_t brace, size_t* at, bool* broken);

  JsonObjectSink* sink_;
  std::string_view text_;
  size_t limit_ = 0;
  bool final_ = false;
  JsonNesting* nesting_ = nullptr;
  ImportCounters* counters_ = nullptr;
  // Bits of text_[origin_, scanned_), where origin_ is outside strings.
  std::vector<ScanBits> bits_;
  size_t origin_ = 0;
  size_t scanned_ = 0;
  bool any_bad_ = false;
};

/// Walks all of a stream in blocks of `block` bytes; returns the checksum of
/// the bytes on disk.
uint32_t WalkJsonObjects(ByteSource* source, Compression compression,
                         const ReadOptions& options, size_t block,
                         JsonObjects* objects, JsonNesting* nesting,
                         ImportCounters* counters);

}  // namespace inferdiff
