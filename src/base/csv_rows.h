// SPDX-License-Identifier: Apache-2.0
// A small table as people publish it: RFC 4180, in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

using CsvRow = std::vector<std::string>;

/// Rows without the empty ones; fields without blanks around them. A byte
/// order mark, CRLF and quoted fields are understood; a quote that never
/// closes reaches to the end.
std::vector<CsvRow> CsvRows(std::string_view text);

}  // namespace inferdiff
