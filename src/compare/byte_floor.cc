// SPDX-License-Identifier: Apache-2.0
#include "compare/byte_floor.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wide.h"

namespace inferdiff {
namespace {

constexpr int64_t kMillion = 1'000'000;

int64_t Shared(int64_t size, int64_t unit, int64_t ways) {
  const int64_t units = (size + unit - 1) / unit;
  return (units + ways - 1) / ways * unit;
}

int64_t BytesOfShard(const WeightMatrix& matrix, int64_t ways) {
  const int64_t out = matrix.split == ShardBy::kOut
                          ? Shared(matrix.out, matrix.unit, ways)
                          : matrix.out;
  const int64_t in = matrix.split == ShardBy::kIn
                         ? Shared(matrix.in, matrix.unit, ways)
                         : matrix.in;
  return BytesOf(matrix.format, out, in);
}

int64_t Checked(Wide bytes) {
  constexpr Wide kMost = Wide{1} << 60;
  if (bytes >= kMost) {
    throw InputError("bad-config", "",
                     "the model reads 2^60 bytes a step or more",
                     "its config.json is damaged, or --context is too large");
  }
  return static_cast<int64_t>(bytes);
}

/// Bits of a number in the cache; 0 where the name is not known.
int64_t CacheBits(std::string_view dtype) {
  if (const auto plain = PlainFormat(dtype)) return plain->bits;
  if (dtype.starts_with("fp8") || dtype == "int8" ||
      dtype.starts_with("float8"))
    return 8;
  return 0;
}

int64_t BytesOfToken(const LayerCache& cache, int64_t bits, int64_t ways) {
  if (cache.fixed_bytes > 0) return cache.fixed_bytes;
  if (cache.fp8_bytes > 0 && bits == 8) return cache.fp8_bytes;
  return Shared(cache.heads, 1, ways) * ((cache.numbers * bits + 7) / 8);
}

void CountWeights(const ModelConfig& model, const StepWork& work,
                  ByteFloor* floor) {
  std::array<Wide, static_cast<size_t>(ByteUse::kCount)> sums{};
  for (const WeightMatrix& matrix : model.matrices) {
    Wide bytes =
        Wide{BytesOfShard(matrix, work.tensor_parallel)} * matrix.count;
    if (matrix.routed)
      bytes = bytes * floor->distinct_experts->num /
              (Wide{floor->distinct_experts->den} * model.experts.count);
    sums[static_cast<size_t>(matrix.use)] += bytes;
  }
  Wide all = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    floor->bytes[i] = Checked(sums[i]);
    all += sums[i];
  }
  floor->weights = Checked(all);
}

/// Why the cache is left out; empty where it is counted.
std::string CountCache(const ModelConfig& model, const StepWork& work,
                       ByteFloor* floor) {
  if (!work.context) return "the context length is not known (--context)";
  const int64_t bits = CacheBits(floor->cache_dtype);
  if (bits == 0)
    return fmt::format("the cache's numbers, {}, are not known",
                       Quoted(floor->cache_dtype));
  Wide all = 0;
  for (const LayerCache& cache : model.caches) {
    Wide tokens = *work.context / cache.stride;
    if (cache.most > 0) {
      if (!work.batch) return "the number of sequences is not known (--batch)";
      tokens = std::min(tokens, Wide{*work.batch} * cache.most);
    }
    const Wide bytes =
        tokens * BytesOfToken(cache, bits, work.tensor_parallel) * cache.layers;
    int64_t& sum = floor->bytes[static_cast<size_t>(cache.use)];
    sum = Checked(sum + bytes);
    all += bytes;
  }
  floor->cache = Checked(all);
  return {};
}

/// (1 - p/q)^n in units of 2^-62, by squaring: integers round alike everywhere.
Wide PowerOfRest(int64_t p, int64_t q, int64_t n) {
  constexpr int kShift = 62;
  constexpr Wide kOne = Wide{1} << kShift;
  Wide base = kOne / q * (q - p) + kOne % q * (q - p) / q;
  Wide power = kOne;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) power = power * base >> kShift;
    base = base * base >> kShift;
  }
  return power;
}

}  // namespace

Rational DistinctExperts(int64_t experts, int64_t per_token, int64_t tokens) {
  constexpr Wide kOne = Wide{1} << 62;
  const Wide missed = PowerOfRest(per_token, experts, tokens);
  const Wide millionths =
      ((kOne - missed) * experts * kMillion + kOne / 2) / kOne;
  return {static_cast<int64_t>(millionths), kMillion};
}

ByteFloor CountBytes(const ModelConfig& model, const StepWork& work) {
  ByteFloor floor;
  floor.assumptions = model.assumptions;
  floor.cache_dtype = !work.cache_dtype.empty()    ? work.cache_dtype
                      : !model.cache_dtype.empty() ? model.cache_dtype
                                                   : model.plain_dtype;
  const Experts& experts = model.experts;
  if (experts.count > 0) {
    if (!work.tokens) {
      floor.not_known =
          "how many tokens a step has is not known, and with it how many "
          "experts it reads (--batch)";
      return floor;
    }
    floor.distinct_experts =
        DistinctExperts(experts.count, experts.per_token, *work.tokens);
    floor.assumptions.push_back(fmt::format(
        "{} of {} experts a token: {} read {} distinct ones a layer, as if "
        "routing were uniform",
        experts.per_token, experts.count, Plural(*work.tokens, "token"),
        Decimal(*floor.distinct_experts, 1)));
  }
  CountWeights(model, work, &floor);
  if (const std::string why = CountCache(model, work, &floor); !why.empty()) {
    // Half of a cache is no floor to compare with.
    for (const ByteUse use : {ByteUse::kKvCache, ByteUse::kIndexCache})
      floor.bytes[static_cast<size_t>(use)] = 0;
    floor.cache = 0;
    floor.assumptions.push_back("the KV cache is left out: " + why);
  } else {
    floor.assumptions.push_back(fmt::format(
        "the KV cache holds {}{}", floor.cache_dtype,
        work.cache_dtype.empty() ? ", as the model's config has it" : ""));
  }
  return floor;
}

}  // namespace inferdiff
