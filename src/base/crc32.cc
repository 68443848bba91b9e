// SPDX-License-Identifier: Apache-2.0
#include "base/crc32.h"

#include <isa-l/crc.h>

#include <array>

namespace inferdiff {
namespace {

// Polynomials over GF(2) modulo the CRC's; the highest bit is x^0.
constexpr uint32_t kPolynomial = 0xedb88320U;
constexpr uint32_t kOne = 0x80000000U;

constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a != 0; a <<= 1) {
    if ((a & kOne) != 0) product ^= b;
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

/// x^(8 * 2^i): what appending 2^i zero bytes multiplies by.
constexpr std::array<uint32_t, 64> MakePowers() {
  std::array<uint32_t, 64> powers{};
  uint32_t power = kOne >> 8;
  for (uint32_t& entry : powers) {
    entry = power;
    power = Multiply(power, power);
  }
  return powers;
}

constexpr std::array<uint32_t, 64> kPowers = MakePowers();

}  // namespace

uint32_t Crc32(uint32_t crc, const void* data, size_t size) {
  return crc32_gzip_refl(crc, static_cast<const unsigned char*>(data), size);
}

uint32_t CombineCrc32(uint32_t first, uint32_t second, uint64_t second_size) {
  uint32_t shifted = first;
  for (size_t i = 0; second_size != 0; ++i, second_size >>= 1) {
    if ((second_size & 1) != 0) shifted = Multiply(kPowers[i], shifted);
  }
  return shifted ^ second;
}

}  // namespace inferdiff
