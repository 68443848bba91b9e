// SPDX-License-Identifier: Apache-2.0
// What repeats in a sequence of symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferdiff {

/// The smallest period of `symbols` that fits about as well as the best one
/// does; 0 where none repeats four fifths of it. Looks at 16,384 symbols and
/// periods up to 512.
size_t PeriodOf(const std::vector<uint32_t>& symbols);

struct Stretch {
  size_t begin = 0, end = 0;
};

/// The longest stretch that repeats with the period exactly.
Stretch LongestRegular(const std::vector<uint32_t>& symbols, size_t period);

/// By position in `text`: does `pattern` begin there? Linear, whatever the
/// text repeats. Neither may hold 2^32 - 1.
std::vector<bool> Occurrences(const std::vector<uint32_t>& pattern,
                              const std::vector<uint32_t>& text);

}  // namespace inferdiff
