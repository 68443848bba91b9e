// SPDX-License-Identifier: Apache-2.0
// In what numbers a checkpoint stores which weights: quantization_config.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/config_fields.h"

namespace inferdiff {

/// A matrix of `out` rows by `in` columns, as y = W x has it. Numbers of a
/// block share a scale, and a zero point where the format has one:
///
///   mxfp4   bits 4   block 1 x 32      scale 8
///   fp8     bits 8   block 128 x 128   scale 32
struct NumberFormat {
  std::string name = {};  // "fp8 in blocks of 128 × 128"
  int64_t bits = 16;
  int64_t block_out = 0, block_in = 0;  // 0: the whole of that side
  int64_t scale_bits = 0;               // of a block; 0: none to speak of

  bool operator==(const NumberFormat&) const = default;
};

/// Of such a matrix; at most 2^24 rows and columns.
int64_t BytesOf(const NumberFormat& format, int64_t out, int64_t in);

/// bfloat16, float16, float32, "torch.bfloat16"; nothing for another name.
std::optional<NumberFormat> PlainFormat(std::string_view dtype);

/// Which format the weight of a module has.
class WeightFormats {
 public:
  /// `config` is the quantization_config; absent: all weights are plain. Throws
  /// InputError "bad-config" for a method that is not known.
  WeightFormats(NumberFormat plain, const std::optional<ConfigFields>& config);
  WeightFormats(WeightFormats&&) noexcept;
  ~WeightFormats();

  /// `modules` are the names that checkpoints and engines have for one weight:
  /// "model.layers.3.self_attn.q_proj", "model.layers.3.self_attn.qkv_proj".
  const NumberFormat& Of(const std::vector<std::string>& modules) const;
  /// Of the head: only some methods quantize it without being told to.
  const NumberFormat& OfHead() const;
  const NumberFormat& plain() const { return plain_; }
  /// What the checkpoint wants the KV cache in, such as "fp8"; else empty.
  const std::string& cache_dtype() const { return cache_dtype_; }

 private:
  class Names;
  struct Scheme {
    NumberFormat format;
    std::unique_ptr<Names> names;  // null: every linear layer
  };
  void ReadFp8(const ConfigFields& config);
  void ReadGroupwise(const ConfigFields& config, bool has_zero_points);
  void ReadGroups(const ConfigFields& config);
  void ReadModelOpt(const ConfigFields& config);
  void ReadQuark(const ConfigFields& config);
  void ReadCacheDtype(const ConfigFields& config);

  NumberFormat plain_;
  std::vector<Scheme> schemes_;  // those by name first
  std::unique_ptr<Names> kept_;  // not quantized; null: none
  bool head_too_ = false;
  std::string cache_dtype_;
};

}  // namespace inferdiff
