// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on times and counts that come from files.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace inferdiff {

/// Only absurd times in a file can add up past 2^63 ns (292 years).
[[noreturn]] inline void ThrowTimeOverflow() {
  throw InputError("time-overflow", "",
                   "times in the trace add up past 2^63 ns",
                   "the trace's timestamps are damaged; capture it again");
}

/// a + b. Throws InputError "time-overflow".
inline int64_t CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) ThrowTimeOverflow();
  return sum;
}

/// a - b. Throws InputError "time-overflow".
inline int64_t CheckedSub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) ThrowTimeOverflow();
  return difference;
}

/// a * b. Throws InputError "time-overflow".
inline int64_t CheckedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) ThrowTimeOverflow();
  return product;
}

/// a + b and a - b, held at the ends of the range: for choices between
/// figures, never for a figure that is printed.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}
inline int64_t SaturatingSub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? INT64_MAX : INT64_MIN;
}

}  // namespace inferdiff
