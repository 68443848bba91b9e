// SPDX-License-Identifier: Apache-2.0
// Where events begin and end by the text around them alone: for windows that
// start anywhere, and behind text that is not JSON.
#pragma once

#include <cstddef>
#include <string_view>

namespace inferdiff {

/// The first { at or behind `from` where an element of traceEvents seems to
/// begin. npos when there is none.
size_t FindEventStart(std::string_view text, size_t from);

/// A `{"ph"` behind a comma within text[begin, end): another event. npos: none.
size_t FindNestedEvent(std::string_view text, size_t begin, size_t end);

/// The } in front of the ] that ends the array of events. npos: none.
size_t FindLastBrace(std::string_view text, size_t from);

/// The first character at or behind `at` that is no JSON space.
size_t SkipJsonSpace(std::string_view text, size_t at);

inline bool IsJsonSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace inferdiff
