// SPDX-License-Identifier: Apache-2.0
// gzip in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inferdiff {

std::string Inflate(const std::string& in);
uint32_t Crc32(std::string_view bytes);

}  // namespace inferdiff
