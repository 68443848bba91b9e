// SPDX-License-Identifier: Apache-2.0
// Hashes for tables that hostile input fills: keyed with a number that differs
// from run to run, so that nobody can prepare keys that collide. Nothing that
// is printed may depend on their values.
#pragma once

#include <cstdint>
#include <string_view>

namespace inferdiff {

/// The key of this run.
uint64_t HashKey();

/// Both halves of the 128-bit product, folded.
inline uint64_t FoldedMultiply(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t HashText(std::string_view text, uint64_t key);

inline uint64_t MixHash(uint64_t value) {
  static const uint64_t key = HashKey();
  return FoldedMultiply(value ^ key, 0x9e3779b97f4a7c15U ^ (key << 1));
}

}  // namespace inferdiff
