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

class JsonObjects {
 public:
  JsonObjects(JsonObjectSink* sink, ImportCounters* counters)
      : sink_(sink), counters_(counters) {}

  /// Walks as far as the text goes; returns the place from which on it is
  /// needed again, with more behind it. The text is readable for kTextPadding
  /// bytes behind its end. `final`: there is no more, so all of it is walked.
  size_t Walk(std::string_view text, bool final);

  /// After the last text: whether all that was opened was closed.
  bool whole() const { return !cut_ && (depth_ == 0 || damaged_); }

 private:
  void Scan(size_t at, size_t length);
  size_t NextBrace(size_t at) const;
  bool HasBad(size_t begin, size_t end) const;
  size_t EndOf(size_t brace, bool* broken);
  bool Resume(size_t* at);

  JsonObjectSink* sink_;
  ImportCounters* counters_;
  size_t depth_ = 0;  // of objects that were entered
  bool damaged_ = false;
  bool cut_ = false;
  bool lost_ = false;  // within an object that was given up

  std::string_view text_;
  bool final_ = false;
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
                         JsonObjects* objects);

}  // namespace inferdiff
