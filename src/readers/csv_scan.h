// SPDX-License-Identifier: Apache-2.0
// One bit a byte of CSV text (RFC 4180): where fields and rows end, and where
// a quote stands that no well-formed text could have there.
//
//   text       "a,b","say ""hi""",7<nl>
//   delimiter  .....#............#.#       (the comma in quotes is no
//   delimiter) newline    ....................#
//
// A doubled quote closes and opens again, so parity is all there is to keep.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inferdiff {

/// 64 bytes of text; bit i = byte i.
struct CsvBits {
  uint64_t delimiter;  // , and \n outside quotes
  uint64_t newline;    // \n outside quotes
  uint64_t bad;        // an opening quote within a field, or what follows a
                       // closing one and is no delimiter
};

struct CsvRemarks {
  bool bad = false;
  bool newline_in_quotes = false;
};

/// Scans `blocks` blocks of 64 bytes from text[0], where a field begins. Text
/// behind the valid part must be readable; its bits mean nothing.
CsvRemarks ScanCsv(const char* text, size_t blocks, CsvBits* out);

/// How many delimiters there are, and line breaks among them.
struct CsvEnds {
  size_t fields = 0, rows = 0;
};

/// The places of the delimiters, counted from `base` where the first block
/// begins. `out` has room for one a byte and eight more.
CsvEnds FindCsvEnds(const CsvBits* bits, size_t blocks, uint32_t base,
                    uint32_t* out);

}  // namespace inferdiff
