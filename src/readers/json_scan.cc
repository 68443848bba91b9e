// SPDX-License-Identifier: Apache-2.0
#include "readers/json_scan.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace inferdiff {
namespace {

// A byte's class is kLow[low half] & kHigh[high half].
//   bits 0-3: may follow a string: space \t \n \r , : ] }
//   bit 4: { or }
constexpr uint8_t kFollows = 0x0f;
constexpr uint8_t kBrace = 0x10;
constexpr std::array<uint8_t, 16> kLow = {
    /*' ' 0*/ 2,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /*\t*/ 1,
    /*\n :*/ 1 | 4,
    /*{*/ kBrace,
    /*,*/ 2,
    /*\r ] }*/ 1 | 8 | kBrace,
    0,
    0};
constexpr std::array<uint8_t, 16> kHigh = {
    /*\t \n \r*/ 1,
    0,
    /*' ' ,*/ 2,
    /*:*/ 4,
    0,
    /*]*/ 8,
    0,
    /*{ }*/ 8 | kBrace,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0};

/// The bits of one block before quotes are told apart.
struct RawBits {
  uint64_t quote, backslash, brace, follows;
};

struct Carry {
  uint64_t in_string = 0;  // all ones inside
  uint64_t escaped = 0;    // the first byte is escaped
  uint64_t closed = 0;     // the byte in front closed a string
};

/// Bytes that a backslash escapes. A run of backslashes escapes in pairs; runs
/// are short, so that they are walked.
inline uint64_t Escaped(uint64_t backslash, uint64_t* carry) {
  uint64_t escaped = *carry;
  backslash &= ~*carry;
  *carry = 0;
  while (backslash != 0) {
    const int at = __builtin_ctzll(backslash);
    const uint64_t next = at == 63 ? 0 : uint64_t{2} << at;
    if (at == 63) *carry = 1;
    escaped |= next;
    backslash &= backslash - 1;
    backslash &= ~next;
  }
  return escaped;
}

/// Bit i = parity of the bits up to and including i.
inline uint64_t PrefixXor(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

template <typename Parity>
inline __attribute__((always_inline)) uint64_t Finish(const RawBits& raw,
                                                      Parity parity,
                                                      Carry* carry,
                                                      ScanBits* out) {
  uint64_t quote = raw.quote;
  if ((raw.backslash | carry->escaped) != 0) {
    quote &= ~Escaped(raw.backslash, &carry->escaped);
  }
  const uint64_t in_string = parity(quote) ^ carry->in_string;
  carry->in_string =
      static_cast<uint64_t>(static_cast<int64_t>(in_string) >> 63);
  const uint64_t closing = quote & ~in_string;
  const uint64_t bad = (closing << 1 | carry->closed) & ~raw.follows;
  carry->closed = closing >> 63;
  out->quote = quote;
  out->brace = raw.brace & ~in_string;
  out->bad = bad;
  return bad;
}

/// Any machine: a byte at a time.
bool ScanPortable(const char* text, size_t blocks, ScanBits* out) {
  Carry carry;
  uint64_t any_bad = 0;
  for (size_t i = 0; i < blocks; ++i) {
    RawBits raw{};
    for (unsigned bit = 0; bit < 64; ++bit) {
      const auto byte = static_cast<unsigned char>(text[i * 64 + bit]);
      const unsigned type =
          byte < 0x80 ? kLow[byte & 15] & kHigh[byte >> 4] : 0U;
      raw.quote |= uint64_t{byte == '"'} << bit;
      raw.backslash |= uint64_t{byte == '\\'} << bit;
      raw.brace |= uint64_t{(type & kBrace) != 0} << bit;
      raw.follows |= uint64_t{(type & kFollows) != 0} << bit;
    }
    any_bad |= Finish(raw, PrefixXor, &carry, &out[i]);
  }
  return any_bad != 0;
}

#if defined(__x86_64__)

#define INFERDIFF_AVX2 __attribute__((target("avx2,pclmul,bmi")))
#define INFERDIFF_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx2,pclmul,bmi")))

/// Multiplying by all ones without carries is the prefix parity.
__attribute__((target("pclmul"))) inline uint64_t ClmulParity(uint64_t bits) {
  const __m128i ones = _mm_set1_epi8('\xff');
  const __m128i product = _mm_clmulepi64_si128(
      _mm_set_epi64x(0, static_cast<int64_t>(bits)), ones, 0);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}

INFERDIFF_AVX2 inline uint64_t Mask32(__m256i low, __m256i high) {
  const auto low_bits = static_cast<uint32_t>(_mm256_movemask_epi8(low));
  const auto high_bits = static_cast<uint32_t>(_mm256_movemask_epi8(high));
  return low_bits | uint64_t{high_bits} << 32;
}

INFERDIFF_AVX2 bool ScanAvx2(const char* text, size_t blocks, ScanBits* out) {
  const auto* p = reinterpret_cast<const __m256i*>(text);
  const __m256i low_table = _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(kLow.data())));
  const __m256i high_table = _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(kHigh.data())));
  const __m256i half = _mm256_set1_epi8(0x0f);
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i zero = _mm256_setzero_si256();
  Carry carry;
  uint64_t any_bad = 0;
  for (size_t i = 0; i < blocks; ++i) {
    __m256i quotes[2], backslashes[2], braces[2], others[2];
    for (int k = 0; k < 2; ++k) {
      const __m256i x = _mm256_loadu_si256(p + i * 2 + static_cast<size_t>(k));
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);
      const __m256i type =
          _mm256_and_si256(_mm256_shuffle_epi8(low_table, x),
                           _mm256_shuffle_epi8(high_table, high));
      quotes[k] = _mm256_cmpeq_epi8(x, quote);
      backslashes[k] = _mm256_cmpeq_epi8(x, backslash);
      braces[k] = _mm256_slli_epi16(type, 3);  // bit 4 to the sign
      others[k] = _mm256_cmpeq_epi8(_mm256_and_si256(type, half), zero);
    }
    const RawBits raw = {
        Mask32(quotes[0], quotes[1]), Mask32(backslashes[0], backslashes[1]),
        Mask32(braces[0], braces[1]), ~Mask32(others[0], others[1])};
    any_bad |= Finish(raw, ClmulParity, &carry, &out[i]);
  }
  return any_bad != 0;
}

INFERDIFF_AVX512 bool ScanAvx512(const char* text, size_t blocks,
                                 ScanBits* out) {
  // The masked forms: g++ 12 warns about its own header's plain ones.
  const __m512i low_table = _mm512_maskz_broadcast_i32x4(
      0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kLow.data())));
  const __m512i high_table = _mm512_maskz_broadcast_i32x4(
      0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kHigh.data())));
  const __m512i half = _mm512_set1_epi8(0x0f);
  const __m512i brace = _mm512_set1_epi8(kBrace);
  const __m512i quote = _mm512_set1_epi8('"');
  const __m512i backslash = _mm512_set1_epi8('\\');
  Carry carry;
  uint64_t any_bad = 0;
  for (size_t i = 0; i < blocks; ++i) {
    const __m512i x = _mm512_loadu_si512(text + i * 64);
    const __m512i high = _mm512_and_si512(_mm512_srli_epi16(x, 4), half);
    const __m512i type =
        _mm512_and_si512(_mm512_shuffle_epi8(low_table, x),
                         _mm512_shuffle_epi8(high_table, high));
    const RawBits raw = {
        _mm512_cmpeq_epi8_mask(x, quote), _mm512_cmpeq_epi8_mask(x, backslash),
        _mm512_test_epi8_mask(type, brace), _mm512_test_epi8_mask(type, half)};
    any_bad |= Finish(raw, ClmulParity, &carry, &out[i]);
  }
  return any_bad != 0;
}

void AddVariants(std::vector<ScanFunction>* variants) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("pclmul")) return;
  if (__builtin_cpu_supports("avx512bw")) variants->push_back(ScanAvx512);
  if (__builtin_cpu_supports("avx2")) variants->push_back(ScanAvx2);
}

#elif defined(__aarch64__)

/// The sign bits of 64 bytes of 0x00 or 0xff.
inline uint64_t MaskNeon(uint8x16_t a, uint8x16_t b, uint8x16_t c,
                         uint8x16_t d) {
  static constexpr uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                        1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t bits = vld1q_u8(kBits);
  const uint8x16_t ab = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
  const uint8x16_t cd = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
  const uint8x16_t abcd = vpaddq_u8(ab, cd);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
}

bool ScanNeon(const char* text, size_t blocks, ScanBits* out) {
  const uint8x16_t low_table = vld1q_u8(kLow.data());
  const uint8x16_t high_table = vld1q_u8(kHigh.data());
  const uint8x16_t half = vdupq_n_u8(0x0f);
  const uint8x16_t brace = vdupq_n_u8(kBrace);
  Carry carry;
  uint64_t any_bad = 0;
  for (size_t i = 0; i < blocks; ++i) {
    uint8x16_t quotes[4], backslashes[4], braces[4], follows[4];
    for (size_t k = 0; k < 4; ++k) {
      const uint8x16_t x =
          vld1q_u8(reinterpret_cast<const uint8_t*>(text) + i * 64 + k * 16);
      // A high half of 8 or more finds 0 in the high table.
      const uint8x16_t type =
          vandq_u8(vqtbl1q_u8(low_table, vandq_u8(x, half)),
                   vqtbl1q_u8(high_table, vshrq_n_u8(x, 4)));
      quotes[k] = vceqq_u8(x, vdupq_n_u8('"'));
      backslashes[k] = vceqq_u8(x, vdupq_n_u8('\\'));
      braces[k] = vtstq_u8(type, brace);
      follows[k] = vtstq_u8(type, half);
    }
    const auto mask = [](const uint8x16_t* v) {
      return MaskNeon(v[0], v[1], v[2], v[3]);
    };
    const RawBits raw = {mask(quotes), mask(backslashes), mask(braces),
                         mask(follows)};
    any_bad |= Finish(raw, PrefixXor, &carry, &out[i]);
  }
  return any_bad != 0;
}

void AddVariants(std::vector<ScanFunction>* variants) {
  variants->push_back(ScanNeon);
}

#else

void AddVariants(std::vector<ScanFunction>*) {}

#endif

}  // namespace

std::vector<ScanFunction> ScanVariants() {
  std::vector<ScanFunction> variants;
  AddVariants(&variants);
  variants.push_back(ScanPortable);
  return variants;
}

bool ScanJson(const char* text, size_t blocks, ScanBits* out) {
  static const ScanFunction scan = ScanVariants().front();
  return scan(text, blocks, out);
}

}  // namespace inferdiff
