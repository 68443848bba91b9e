// SPDX-License-Identifier: Apache-2.0
// Any bytes: read, or refused, and with the same result for any number of
// threads and any size of block.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "../unit/trace_text.h"
#include "base/byte_source.h"
#include "base/error.h"
#include "readers/reader.h"
#include "scratch_file.h"

namespace inferdiff {

/// `read(file, compression, options, block)` is the reader.
template <typename Read>
void ReadInBlocks(const ScratchFile& scratch, const uint8_t* data, size_t size,
                  const Read& read) {
  scratch.Write(data, size);
  const auto outcome = [&](unsigned threads, size_t block) -> std::string {
    try {
      const InputFile file(scratch.path());
      ReadOptions options;
      options.threads = threads;
      return TextOf(read(file, DetectCompression(file), options, block));
    } catch (const InputError& error) {
      return error.id;
    }
  };
  const std::string one = outcome(1, 512);
  if (outcome(2, 512) != one) std::abort();
  // How much of a damaged stream a decoder gives away before it notices
  // depends on how much it is asked for.
  const bool compressed =
      size > 1 && (data[0] == 0x1f || (data[0] == 0x28 && data[1] == 0xb5));
  if (compressed) return;
  if (outcome(1, 1 << 16) != one) std::abort();
  if (outcome(3, 256) != one) std::abort();
}

}  // namespace inferdiff
