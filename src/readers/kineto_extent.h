// SPDX-License-Identifier: Apache-2.0
// Where an event ends: its braces, found a block of text at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/json_scan.h"

namespace inferdiff {

/// An event longer than this is given up: the walk resumes behind it.
inline constexpr size_t kLongestEvent = size_t{4} << 20;

/// Where an event and its args end.
struct Extent {
  /// Of an event whose only object is its args.
  static constexpr unsigned kUsualBraces = 4;

  size_t end = 0;         // behind the closing brace
  size_t args_begin = 0;  // the second brace
  size_t args_end = 0;    // behind the last brace but one
  unsigned braces = 0;
};

/// Follows braces through a text. Bits of a stretch of it are kept, so that
/// events in a row cost one scan.
class ExtentFinder {
 public:
  enum class Found : uint8_t { kEvent, kBroken, kNeedText };

  /// `final`: no more text will come.
  void Start(std::string_view text, bool final) {
    text_ = text;
    final_ = final;
    Forget();
  }
  /// What was seen says nothing of what follows.
  void Forget() {
    origin_ = scanned_ = 0;
    next_ = kFirst;
  }
  /// Follows the braces from the one at `at` to its partner.
  Found Find(size_t at, Extent* extent);
  /// The next quote at or behind `at`, which lies in the extent found last;
  /// end() when there is none.
  size_t QuoteFrom(size_t at) const {
    size_t word = (at - origin_) / 64;
    const size_t words = (scanned_ - origin_ + 63) / 64;
    if (word >= words) return scanned_;
    uint64_t quotes = bits_[word].quote;
    quotes &= ~uint64_t{0} << ((at - origin_) % 64);
    while (quotes == 0) {
      if (++word == words) return scanned_;
      quotes = bits_[word].quote;
    }
    return origin_ + word * 64 + static_cast<size_t>(__builtin_ctzll(quotes));
  }
  /// Of the stretch that was looked at.
  size_t end() const { return scanned_; }

 private:
  /// Stretch scanned at once: its bits stay in the first-level cache.
  static constexpr size_t kChunk = 16 * 1024;
  /// The first one behind damage. Where that is all there is, as in a string
  /// full of `,{"ph"`, every few bytes begin a stretch.
  static constexpr size_t kFirst = 512;

  void Scan(size_t at, size_t length);
  void ScanNext(size_t at);
  Found Judge(size_t at, const Extent& extent) const;
  bool HasBadBits(size_t begin, size_t end) const;

  std::string_view text_;
  bool final_ = false;

  // Bits of text_[origin_, scanned_), where origin_ is outside strings.
  std::vector<ScanBits> bits_;
  size_t origin_ = 0;
  size_t scanned_ = 0;
  size_t next_ = kFirst;  // length of the next stretch
  bool any_bad_ = false;
};

}  // namespace inferdiff
