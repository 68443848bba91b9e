// SPDX-License-Identifier: Apache-2.0
// Over the digits of a number in text, eight at a time: a loop over bytes ends
// where no processor can guess.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace inferdiff {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Of the eight characters at `p` the first that is no digit: the lowest sign
/// bit that is set. 0: all are digits. Little endian.
inline uint64_t NonDigits(const char* p) {
  constexpr uint64_t kSigns = 0x8080808080808080U;
  uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  word ^= 0x3030303030303030U;  // digits become 0 to 9
  // A sign where a byte is 10 or more.
  return (((word & ~kSigns) + 0x7676767676767676U) | word) & kSigns;
}

/// The first character at or behind `p` that is no digit. Eight bytes must be
/// readable behind the last digit.
inline const char* SkipDigits(const char* p) {
  if constexpr (std::endian::native != std::endian::little) {
    while (IsDigit(*p)) ++p;
    return p;
  }
  while (true) {
    const uint64_t others = NonDigits(p);
    if (others != 0) return p + __builtin_ctzll(others) / 8;
    p += 8;
  }
}

/// Behind digits, or digits with a point and more digits behind it.
inline const char* SkipNumber(const char* p) {
  p = SkipDigits(p);
  return *p == '.' ? SkipDigits(p + 1) : p;
}

}  // namespace inferdiff
