// SPDX-License-Identifier: Apache-2.0
// One bit a byte of JSON text: where quotes and braces are, and where a quote
// stands that no well-formed text could have there.
//
//   text    {"a": "}", "b"x": 1}
//   quote   .#.#..#.#..#.#.#....
//   brace   #..............…       (the } inside the string is no brace)
//   bad     ..............#.....   (the x: no string ends in front of it)
//
// Stray quotes flip inside and outside; a flip shows at once, because the text
// after the opening quote of a key does not look like the text after a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferdiff {

/// 64 bytes of text; bit i = byte i.
struct ScanBits {
  uint64_t quote;  // quotes that no backslash escapes
  uint64_t brace;  // { and } outside strings
  uint64_t bad;    // characters behind a string that cannot stand there
};

/// Scans `blocks` blocks of 64 bytes from text[0], which is outside strings.
/// Returns whether any `bad` bit is set. Text behind the valid part must be
/// readable; its bits mean nothing.
bool ScanJson(const char* text, size_t blocks, ScanBits* out);

/// What ScanJson may be on this machine, the one in use first: for tests.
using ScanFunction = bool (*)(const char*, size_t, ScanBits*);
std::vector<ScanFunction> ScanVariants();

}  // namespace inferdiff
