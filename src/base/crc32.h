// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3, as gzip has it: of parts, then of the whole.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inferdiff {

/// Goes on from `crc`, 0 at the start.
uint32_t Crc32(uint32_t crc, const void* data, size_t size);

/// Of two texts in a row, from theirs; the second has `second_size` bytes.
uint32_t CombineCrc32(uint32_t first, uint32_t second, uint64_t second_size);

}  // namespace inferdiff
