// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <cstring>
#include <random>

namespace inferdiff {
namespace {

uint64_t Load(const char* p, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, p, bytes);
  return value;
}

}  // namespace

uint64_t HashKey() {
  static const uint64_t key = [] {
    std::random_device device;
    return (uint64_t{device()} << 32 | device()) | 1;
  }();
  return key;
}

uint64_t HashText(std::string_view text, uint64_t key) {
  constexpr uint64_t kOdd1 = 0xa0761d6478bd642fU;
  constexpr uint64_t kOdd2 = 0xe7037ed1a0b428dbU;
  const char* p = text.data();
  size_t left = text.size();
  uint64_t state = key ^ (left * kOdd1);
  if (left > 32) {
    // Two chains at a time: one alone waits for its products.
    uint64_t other = key;
    for (; left > 32; left -= 32, p += 32) {
      state = FoldedMultiply(Load(p, 8) ^ kOdd1 ^ key, Load(p + 8, 8) ^ state);
      other = FoldedMultiply(Load(p + 16, 8) ^ kOdd2 ^ key,
                             Load(p + 24, 8) ^ other);
    }
    state = FoldedMultiply(state ^ kOdd2, other ^ key);
  }
  for (; left > 16; left -= 16, p += 16) {
    state = FoldedMultiply(Load(p, 8) ^ kOdd1 ^ key, Load(p + 8, 8) ^ state);
  }
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 8) {
    low = Load(p, 8);
    high = Load(p + left - 8, 8);
  } else if (left > 0) {  // an empty text may point nowhere
    low = Load(p, left);
  }
  return FoldedMultiply(FoldedMultiply(low ^ kOdd2 ^ key, high ^ state),
                        kOdd1 ^ key);
}

}  // namespace inferdiff
