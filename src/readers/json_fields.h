// SPDX-License-Identifier: Apache-2.0
// The scalar members of one JSON object, and of the objects in it.
//
//   {"kind": 11, "correlation_id": {"internal": 7}, "name": "f"}
//   ("", kind, 11)  (correlation_id, internal, 7)  ("", name, f)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "readers/digits.h"

namespace inferdiff {

/// Behind the string whose contents begin at `p`: at its closing quote;
/// nullptr where there is none.
inline const char* FindStringEnd(const char* p, const char* end) {
  while (true) {
    const auto* quote = static_cast<const char*>(
        std::memchr(p, '"', static_cast<size_t>(end - p)));
    if (quote == nullptr) return nullptr;
    const char* slash = quote;
    while (slash > p && slash[-1] == '\\') --slash;
    if ((quote - slash) % 2 == 0) return quote;
    p = quote + 1;
  }
}

/// The same for text that is short, as keys are. Eight bytes are readable
/// behind `end`.
inline const char* FindKeyEnd(const char* p, const char* end) {
  const char* const begin = p;
  if constexpr (std::endian::native == std::endian::little) {
    for (; p < end; p += 8) {
      uint64_t word = 0;
      std::memcpy(&word, p, sizeof(word));
      word ^= 0x2222222222222222U;  // quotes become 0
      // A sign where the first byte 0 is, and perhaps behind it.
      const uint64_t zeros =
          (word - 0x0101010101010101U) & ~word & 0x8080808080808080U;
      if (zeros == 0) continue;
      p += __builtin_ctzll(zeros) / 8;
      break;
    }
  } else {
    while (p != end && *p != '"') ++p;
  }
  if (p >= end) return nullptr;
  return p != begin && p[-1] == '\\' ? FindStringEnd(begin, end) : p;
}

inline const char* SkipSpace(const char* p, const char* end) {
  while (p != end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
    ++p;
  }
  return p;
}

/// Behind the array that begins at `p`; nullptr where it does not end.
inline const char* SkipArray(const char* p, const char* end) {
  size_t depth = 0;
  for (; p != end; ++p) {
    if (*p == '"') {
      p = FindStringEnd(p + 1, end);
      if (p == nullptr) return nullptr;
    }
    if (*p == '[') ++depth;
    if (*p == ']' && --depth == 0) return p + 1;
  }
  return nullptr;
}

/// Calls take(parent key, key, text, quoted) for each scalar; arrays are handed
/// over whole, strings without their quotes. Stops early, and is true, where
/// `take` gives false. False: the text is no object, or one with more than
/// eight levels. Eight bytes are readable behind the text.
template <typename Take>
bool ForEachField(std::string_view text, const Take& take) {
  std::array<std::string_view, 8> parents;
  size_t depth = 0;
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p == end || *p != '{') return false;
  ++p;
  while (true) {
    p = SkipSpace(p, end);
    if (p == end) return false;
    if (*p == ',') {
      ++p;
      continue;
    }
    if (*p == '}') {
      ++p;
      if (depth == 0) return p == end;
      --depth;
      continue;
    }
    if (*p != '"') return false;
    const char* const key_begin = p + 1;
    p = FindKeyEnd(key_begin, end);
    if (p == nullptr) return false;
    const std::string_view key(key_begin, static_cast<size_t>(p - key_begin));
    p = SkipSpace(p + 1, end);
    if (p == end || *p != ':') return false;
    p = SkipSpace(p + 1, end);
    if (p == end) return false;
    const char* const begin = p;
    if (*p == '{') {
      if (++depth == parents.size()) return false;
      parents[depth] = key;
      ++p;
      continue;
    }
    const bool quoted = *p == '"';
    if (quoted) {
      p = FindStringEnd(begin + 1, end);
    } else if (*p == '[') {
      p = SkipArray(p, end);
    } else {
      if (IsDigit(*p)) p = std::min(SkipDigits(p), end);
      while (p != end && *p != ',' && *p != '}' && *p != ' ' && *p != '\n' &&
             *p != '\r') {
        ++p;
      }
    }
    if (p == nullptr || (p == begin && !quoted)) return false;
    const char* const from = begin + (quoted ? 1 : 0);
    const std::string_view value(from, static_cast<size_t>(p - from));
    if constexpr (std::is_void_v<decltype(take(key, key, value, quoted))>) {
      take(parents[depth], key, value, quoted);
    } else if (!take(parents[depth], key, value, quoted)) {
      return true;
    }
    if (quoted) ++p;
  }
}

}  // namespace inferdiff
