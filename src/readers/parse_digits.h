// SPDX-License-Identifier: Apache-2.0
// Decimal digits -> a number, eight at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace inferdiff {

/// Eight digits, the first one in the lowest byte. False: others among them.
inline bool ParseEightDigits(uint64_t eight, uint64_t* value) {
  constexpr uint64_t kHigh = 0xf0f0f0f0f0f0f0f0U;
  constexpr uint64_t kZeros = 0x3030303030303030U;
  constexpr uint64_t kSixes = 0x0606060606060606U;
  if ((eight & kHigh) != kZeros || ((eight + kSixes) & kHigh) != kZeros) {
    return false;
  }
  // Pairs, then fours, then all eight.
  eight -= kZeros;
  eight = eight * 10 + (eight >> 8);
  constexpr uint64_t kPairs = 0x000000ff000000ffU;
  *value = ((eight & kPairs) * 0x000f424000000064U +
            ((eight >> 16) & kPairs) * 0x0000271000000001U) >>
           32;
  return true;
}

/// False: not one to eighteen digits and nothing else. Then other parsers tell
/// what it is.
inline bool ParseDigits(std::string_view text, int64_t* value) {
  constexpr size_t kMost = 18;  // any such number fits
  if (text.empty() || text.size() > kMost) return false;
  const char* p = text.data();
  const char* const end = p + text.size();
  uint64_t sum = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - p >= 8; p += 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, p, sizeof(eight));
      if (!ParseEightDigits(eight, &eight)) return false;
      sum = sum * 100000000U + eight;
    }
  }
  for (; p != end; ++p) {
    const auto digit = static_cast<unsigned char>(*p - '0');
    if (digit > 9) return false;
    sum = sum * 10 + digit;
  }
  *value = static_cast<int64_t>(sum);
  return true;
}

/// The same, without a loop, where eight bytes are readable from the first one.
inline bool ParsePaddedDigits(std::string_view text, int64_t* value) {
  const size_t size = text.size();
  if (std::endian::native != std::endian::little || size == 0 || size > 16) {
    return ParseDigits(text, value);
  }
  // Zeros in front of the first digits, up to eight.
  constexpr uint64_t kZeros = 0x3030303030303030U;
  const size_t first = size > 8 ? size - 8 : size;
  uint64_t high = 0;
  std::memcpy(&high, text.data(), sizeof(high));
  if (first < 8) high = high << (64 - 8 * first) | kZeros >> (8 * first);
  uint64_t low = kZeros;
  if (size > 8) std::memcpy(&low, text.data() + size - 8, sizeof(low));
  if (!ParseEightDigits(high, &high)) return false;
  if (!ParseEightDigits(low, &low)) return false;
  *value = static_cast<int64_t>(size > 8 ? high * 100000000U + low : high);
  return true;
}

}  // namespace inferdiff
