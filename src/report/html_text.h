// SPDX-License-Identifier: Apache-2.0
// Text as HTML. Every name, marker and label on the page goes through here:
// nothing that a file holds is ever markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inferdiff {

/// For text and for attributes in double quotes. Invisible and direction
/// changing characters are shown as in Printable.
std::string HtmlEscaped(std::string_view raw);

/// Prose: spans in backticks (see Quoted in text.h) become code.
std::string HtmlText(std::string_view raw);

/// A kernel's name: what is longer than `width` columns is elided, and unfolds
/// to the whole of it without a script.
std::string HtmlName(std::string_view name, size_t width);

/// Fit for an id and for a link to it: letters, digits, "-" and "_".
std::string HtmlId(std::string_view raw);

/// JSON for a <script> element: none of its text ends the element.
std::string ScriptJson(std::string_view json);

/// part / whole as a length: "12.34%"; 0 where whole is not above 0.
std::string HtmlLength(int64_t part, int64_t whole);

}  // namespace inferdiff
