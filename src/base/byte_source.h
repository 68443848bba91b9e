// SPDX-License-Identifier: Apache-2.0
// A file as a stream of decoded bytes: as it is, or gzip, or zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/input_file.h"

namespace inferdiff {

enum class Compression : uint8_t { kPlain, kGzip, kZstd };

/// By the first bytes; names lie.
Compression DetectCompression(const InputFile& file);

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Bytes written: `size`, or fewer at the end. Damaged data ends the stream
  /// and sets a flag. Throws InputError "unreadable-file" and, when a small
  /// file unfolds to an absurd size, "expands-too-far".
  virtual size_t Read(char* to, size_t size) = 0;

  /// Gets bytes of the file ready for Read(), in any thread, also beside it:
  /// decoding need not wait for them.
  virtual void ReadAhead() {}

  bool truncated() const { return truncated_; }  // ends in the middle
  bool corrupt() const { return corrupt_; }      // is damaged
  /// Of the bytes on disk, those behind the end of the stream included.
  /// To be called when the stream is at its end.
  virtual uint32_t DiskCrc32() = 0;
  /// Share of the bytes on disk read so far.
  virtual double Progress() const = 0;

 protected:
  bool truncated_ = false;
  bool corrupt_ = false;
};

/// The file as it is, from `offset` on; no checksum.
std::unique_ptr<ByteSource> OpenPlain(const InputFile& file, uint64_t offset);

/// Memory in use is bounded, whatever the file says.
std::unique_ptr<ByteSource> OpenCompressed(const InputFile& file,
                                           Compression compression);

}  // namespace inferdiff
