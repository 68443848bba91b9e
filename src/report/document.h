// SPDX-License-Identifier: Apache-2.0
// A report as people read it, before it is laid out. One document gives the
// terminal, the Markdown and the HTML form, so they never say different things.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace inferdiff {

/// Begins a sentence that belongs to the one above it.
inline constexpr std::string_view kDetailMark = "\u00b7 ";

/// Sentences, a table, more sentences. Sentences are plain text; what stands
/// in backticks (see Quoted in text.h) becomes code in Markdown.
struct Section {
  std::string title = {};  // may be empty
  std::vector<std::string> before = {};
  std::optional<Table> table = {};
  std::vector<std::string> after = {};
  bool folded = false;  // Markdown: inside <details>; needs a title
  std::string id = {};  // "categories": what links and the HTML page go by
};

struct Document {
  std::string title;  // Markdown only: a terminal shows the command above
  std::vector<Section> sections;
};

/// Sections apart by a blank line, sentences wrapped.
std::string TerminalText(const Document& document, const TerminalStyle& style);

/// GitHub Markdown of at most `max_bytes`: the last sections that do not fit
/// are named and left out. A pull-request comment holds 65,536 characters.
std::string MarkdownDocument(const Document& document,
                             size_t max_bytes = 60'000);

}  // namespace inferdiff
