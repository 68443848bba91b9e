// SPDX-License-Identifier: Apache-2.0
// Decimals that people write -> exact integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/rational.h"

namespace inferdiff {

/// "1180.25" with 3 places is 1180250: digits with one point at most. Digits
/// beyond the places are rounded, half up. Nothing for any other text, and
/// from 10^15 on.
std::optional<int64_t> ParseFixed(std::string_view text, int places);

/// Nanoseconds of "4.61ms", "0.642us", "640ns", "1.2s", and of "4400.5", which
/// is in microseconds. Exact to the picosecond; nothing for other text.
std::optional<Rational> ParseDuration(std::string_view text);

}  // namespace inferdiff
