// SPDX-License-Identifier: Apache-2.0
// 128-bit integers: they hold the product of two 64-bit ones.
#pragma once

namespace inferdiff {

__extension__ using Wide = __int128;

/// The greatest common divisor, never negative; of 0 and 0 it is 0.
constexpr Wide Gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

}  // namespace inferdiff
