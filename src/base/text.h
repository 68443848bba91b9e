// SPDX-License-Identifier: Apache-2.0
// Text on its way out. Kernel names, markers and labels come from files that
// strangers wrote: every writer passes them through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

inline constexpr std::string_view kDash = "\u2014";      // no value
inline constexpr std::string_view kMinus = "\u2212";     // negative numbers
inline constexpr std::string_view kEllipsis = "\u2026";  // something left out
inline constexpr std::string_view kTimes = "\u00d7";
inline constexpr std::string_view kDot = "\u00b7";  // between facts
inline constexpr std::string_view kAtMost = "\u2264";
inline constexpr std::string_view kAtLeast = "\u2265";
inline constexpr std::string_view kAbout = "\u2248";

/// ASCII letters in lower case.
std::string Lower(std::string_view text);

/// One name as people type it and as tables print it: "moe_gemm", "MoE GEMM".
bool SameName(std::string_view a, std::string_view b);

/// Fit for a terminal: control characters, terminal escapes, line breaks,
/// direction overrides and invisible characters become \x1b or \u202e,
/// invalid UTF-8 becomes U+FFFD.
std::string Printable(std::string_view text);

/// Terminal columns of printable UTF-8: 0 for combining marks, 2 for East
/// Asian wide characters and emoji, else 1.
size_t DisplayWidth(std::string_view text);

/// At most `width` columns; the middle gives way to an ellipsis, because the
/// head of a kernel name says what it is and the tail which variant.
std::string ElideMiddle(std::string_view text, size_t width);

/// Greedy line breaks at spaces; a word longer than the width is not cut.
std::vector<std::string> Wrap(std::string_view text, size_t width);

/// A name as a part of a sentence: in backticks, which the Markdown writer
/// turns into code. Backticks inside become apostrophes.
std::string Quoted(std::string_view name);

/// Prose for Markdown. Spans in backticks become code; everything else that
/// Markdown, HTML or a mention could read is escaped.
std::string MarkdownText(std::string_view text, bool in_table = false);

/// A name as a code span. Empty stays empty.
std::string MarkdownCode(std::string_view text, bool in_table = false);

/// A TSV field: backslash, tab, newline and carriage return as \\ \t \n \r;
/// other control characters as in Printable.
std::string TsvField(std::string_view text);

}  // namespace inferdiff
