// SPDX-License-Identifier: Apache-2.0
#include "base/zstd_frame.h"

#include <zstd.h>

#include <algorithm>
#include <new>

namespace inferdiff {
namespace {

// Columns of what repeats shrink to nothing, but what is large varies.
constexpr uint64_t kAlways = uint64_t{32} << 20;
constexpr uint64_t kTimes = 64;
constexpr int kLevel = 3;  // a higher one takes longer than reading the trace

}  // namespace

std::string ZstdFrame(std::string_view text) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(frame.data(), frame.size(), text.data(),
                                    text.size(), kLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // the only reason
  frame.resize(size);
  frame.shrink_to_fit();
  return frame;
}

std::optional<std::string> UnfoldZstdFrame(std::string_view frame) {
  const uint64_t size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  // Both errors are the largest numbers there are.
  if (size > std::max(kAlways, kTimes * frame.size())) return std::nullopt;
  std::string text(static_cast<size_t>(size), '\0');
  const size_t got =
      ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
  return text;
}

}  // namespace inferdiff
