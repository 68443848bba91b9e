// SPDX-License-Identifier: Apache-2.0
// A compressed file that is read at any place: unpacked to the disk first.
#pragma once

#include <cstdint>
#include <memory>

#include "base/byte_source.h"
#include "base/input_file.h"

namespace inferdiff {

/// The largest sensible size of such a file unpacked: databases shrink by 5 to
/// 15, and an empty page by a thousand.
uint64_t MostUnpacked(uint64_t compressed_size);

/// Reads `source` to its end into a file in TMPDIR (/tmp), which has no name
/// from the start on: it is gone when the result is, or the process. The result
/// carries the path of the original, for messages. Throws InputError
/// "expands-too-far" beyond `most` bytes and "no-room" where the disk is full.
std::unique_ptr<InputFile> Unpack(ByteSource* source, const InputFile& original,
                                  uint64_t most);

}  // namespace inferdiff
