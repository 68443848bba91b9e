// SPDX-License-Identifier: Apache-2.0
// Text on its way into a compressed file.
#pragma once

#include <memory>
#include <string_view>

#include "base/byte_source.h"
#include "base/text_pieces.h"

namespace inferdiff {

/// Compresses what it is given and hands it on. The same bytes for the same
/// text, however it is cut into pieces.
class CompressedSink {
 public:
  virtual ~CompressedSink() = default;
  virtual void Write(std::string_view text) = 0;
  /// After the last piece.
  virtual void Finish() = 0;
};

/// `sink` outlives it.
std::unique_ptr<CompressedSink> CompressTo(Compression compression,
                                           const TextSink& sink);

}  // namespace inferdiff
