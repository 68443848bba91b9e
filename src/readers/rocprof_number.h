// SPDX-License-Identifier: Apache-2.0
// Numbers as rocprofv3's JSON writes them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "readers/parse_digits.h"

namespace inferdiff {

/// Of a number of 64 bits; false: it is none.
template <typename Number>
bool ReadRocprofNumber(std::string_view text, Number* value) {
  int64_t plain = 0;
  if (ParseDigits(text, &plain)) {
    *value = static_cast<Number>(plain);
    return true;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return stop == end && error == std::errc();
}

}  // namespace inferdiff
