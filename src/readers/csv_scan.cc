// SPDX-License-Identifier: Apache-2.0
#include "readers/csv_scan.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace inferdiff {
namespace {

/// The bits of one block before quotes are told apart.
struct RawBits {
  uint64_t quote, comma, newline;
  uint64_t inside;  // bit i: whether an odd number of quotes is up to i
};

struct Carry {
  uint64_t in_quotes = 0;  // all ones: the block begins inside
  uint64_t may_open = 1;   // a quote at the block's start may open a field
  uint64_t closed = 0;     // the byte in front of the block closes quotes
};

/// Bit i: whether an odd number of bits up to i is set.
inline uint64_t PrefixXor(uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// `returns`: gives the bits of \r, which are seldom asked for.
template <typename Returns>
inline void Finish(const RawBits& raw, const Returns& returns, Carry* carry,
                   CsvBits* out, CsvRemarks* remarks) {
  const uint64_t inside = raw.inside ^ carry->in_quotes;
  carry->in_quotes = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
  const uint64_t closing = raw.quote & ~inside;
  const uint64_t opening = raw.quote & inside;
  out->newline = raw.newline & ~inside;
  out->delimiter = out->newline | (raw.comma & ~inside);
  const uint64_t before = out->delimiter | closing;
  const uint64_t behind = raw.comma | raw.newline | raw.quote;
  uint64_t stray = (closing << 1 | carry->closed) & ~behind;
  if (stray != 0) stray &= ~returns();
  out->bad = (opening & ~(before << 1 | carry->may_open)) | stray;
  carry->may_open = before >> 63;
  carry->closed = closing >> 63;
  remarks->bad |= out->bad != 0;
  remarks->newline_in_quotes |= (raw.newline & inside) != 0;
}

/// Eight at a time: no processor can foresee a loop that ends after each bit.
inline CsvEnds FindEnds(const CsvBits* bits, size_t blocks, uint32_t base,
                        uint32_t* out) {
  CsvEnds ends;
  for (size_t i = 0; i < blocks; ++i) {
    uint64_t rest = bits[i].delimiter;
    const auto count = static_cast<size_t>(std::popcount(rest));
    for (size_t done = 0; done < count; done += 8) {
      for (size_t k = 0; k < 8; ++k) {
        const auto at = static_cast<uint32_t>(std::countr_zero(rest));
        out[ends.fields + done + k] = base + at;
        rest &= rest - 1;
      }
    }
    ends.fields += count;
    ends.rows += static_cast<size_t>(std::popcount(bits[i].newline));
    base += 64;
  }
  return ends;
}

#if defined(__x86_64__)

inline uint64_t Mask64(const __m128i* x, char c) {
  const __m128i wanted = _mm_set1_epi8(c);
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(x[i], wanted));
    mask |= static_cast<uint64_t>(bits) << (16 * i);
  }
  return mask;
}

CsvRemarks ScanSse2(const char* text, size_t blocks, CsvBits* out) {
  Carry carry;
  CsvRemarks remarks;
  for (size_t i = 0; i < blocks; ++i) {
    __m128i x[4];
    for (size_t k = 0; k < 4; ++k) {
      x[k] = _mm_loadu_si128(
          reinterpret_cast<const __m128i*>(text + i * 64 + k * 16));
    }
    const uint64_t quote = Mask64(x, '"');
    const RawBits raw = {quote, Mask64(x, ','), Mask64(x, '\n'),
                         PrefixXor(quote)};
    Finish(
        raw, [&] { return Mask64(x, '\r'); }, &carry, &out[i], &remarks);
  }
  return remarks;
}

#define INFERDIFF_AVX2 __attribute__((target("avx2,pclmul,bmi")))

/// Multiplying by all ones without carries is the prefix parity.
__attribute__((target("pclmul"))) inline uint64_t ClmulParity(uint64_t bits) {
  const __m128i ones = _mm_set1_epi8('\xff');
  const __m128i product = _mm_clmulepi64_si128(
      _mm_set_epi64x(0, static_cast<int64_t>(bits)), ones, 0);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}

INFERDIFF_AVX2 inline uint64_t Mask64(__m256i low, __m256i high, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto low_bits = static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  const auto high_bits = static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
  return low_bits | uint64_t{high_bits} << 32;
}

INFERDIFF_AVX2 CsvRemarks ScanAvx2(const char* text, size_t blocks,
                                   CsvBits* out) {
  Carry carry;
  CsvRemarks remarks;
  for (size_t i = 0; i < blocks; ++i) {
    const auto* p = reinterpret_cast<const __m256i*>(text + i * 64);
    const __m256i low = _mm256_loadu_si256(p);
    const __m256i high = _mm256_loadu_si256(p + 1);
    const uint64_t quote = Mask64(low, high, '"');
    const RawBits raw = {quote, Mask64(low, high, ','), Mask64(low, high, '\n'),
                         ClmulParity(quote)};
    const auto returns = [&]()
                             INFERDIFF_AVX2 { return Mask64(low, high, '\r'); };
    Finish(raw, returns, &carry, &out[i], &remarks);
  }
  return remarks;
}

__attribute__((target("bmi,popcnt"))) CsvEnds FindEndsBmi(const CsvBits* bits,
                                                          size_t blocks,
                                                          uint32_t base,
                                                          uint32_t* out) {
  return FindEnds(bits, blocks, base, out);
}

/// Whether the machine has all that the fast functions use.
bool IsFast() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

#elif defined(__aarch64__)

inline uint64_t Mask64(const uint8x16_t* x, char c) {
  static constexpr uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                        1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t bits = vld1q_u8(kBits);
  const uint8x16_t wanted = vdupq_n_u8(static_cast<uint8_t>(c));
  uint8x16_t m[4];
  for (size_t k = 0; k < 4; ++k) m[k] = vandq_u8(vceqq_u8(x[k], wanted), bits);
  const uint8x16_t pairs =
      vpaddq_u8(vpaddq_u8(m[0], m[1]), vpaddq_u8(m[2], m[3]));
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
}

CsvRemarks ScanNeon(const char* text, size_t blocks, CsvBits* out) {
  Carry carry;
  CsvRemarks remarks;
  for (size_t i = 0; i < blocks; ++i) {
    uint8x16_t x[4];
    for (size_t k = 0; k < 4; ++k) {
      x[k] = vld1q_u8(reinterpret_cast<const uint8_t*>(text) + i * 64 + k * 16);
    }
    const uint64_t quote = Mask64(x, '"');
    const RawBits raw = {quote, Mask64(x, ','), Mask64(x, '\n'),
                         PrefixXor(quote)};
    Finish(
        raw, [&] { return Mask64(x, '\r'); }, &carry, &out[i], &remarks);
  }
  return remarks;
}

#else

/// Any machine: a byte at a time.
CsvRemarks ScanPortable(const char* text, size_t blocks, CsvBits* out) {
  Carry carry;
  CsvRemarks remarks;
  for (size_t i = 0; i < blocks; ++i) {
    const auto bits_of = [&](char wanted) {
      uint64_t bits = 0;
      for (unsigned bit = 0; bit < 64; ++bit) {
        bits |= uint64_t{text[i * 64 + bit] == wanted} << bit;
      }
      return bits;
    };
    const uint64_t quote = bits_of('"');
    const RawBits raw = {quote, bits_of(','), bits_of('\n'), PrefixXor(quote)};
    Finish(
        raw, [&] { return bits_of('\r'); }, &carry, &out[i], &remarks);
  }
  return remarks;
}

#endif

}  // namespace

CsvRemarks ScanCsv(const char* text, size_t blocks, CsvBits* out) {
#if defined(__x86_64__)
  static const bool fast = IsFast();
  return fast ? ScanAvx2(text, blocks, out) : ScanSse2(text, blocks, out);
#elif defined(__aarch64__)
  return ScanNeon(text, blocks, out);
#else
  return ScanPortable(text, blocks, out);
#endif
}

CsvEnds FindCsvEnds(const CsvBits* bits, size_t blocks, uint32_t base,
                    uint32_t* out) {
#if defined(__x86_64__)
  static const bool fast = IsFast();
  if (fast) return FindEndsBmi(bits, blocks, base, out);
#endif
  return FindEnds(bits, blocks, base, out);
}

}  // namespace inferdiff
