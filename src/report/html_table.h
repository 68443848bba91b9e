// SPDX-License-Identifier: Apache-2.0
// The tables and sections of a document (report/document.h) as HTML, so that
// the page says what terminal and Markdown say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/document.h"
#include "report/table.h"

namespace inferdiff {

struct HtmlTableLook {
  std::string label;  // what a screen reader calls it
  /// HTML in front of a row's first cell, by row; may be shorter.
  std::vector<std::string> lead = {};
};

/// Rows above each total have a body of their own: what sorts them keeps them
/// apart. Rows that begin with kDetailMark stay with the row above.
std::string HtmlTable(const Table& table, const HtmlTableLook& look);

/// A list; what begins with kDetailMark is a list of its own under its
/// sentence. Empty for none.
std::string HtmlSentences(const std::vector<std::string>& sentences);

/// Everything but the title.
std::string HtmlSection(const Section& section,
                        const std::vector<std::string>& lead = {});

/// The colour of a category group or category, as a class of the style sheet;
/// of what is neither, too: "rank_wait", "idle", "foreign".
std::string_view ColourOf(std::string_view id);

/// A square of that colour.
std::string HtmlSwatch(std::string_view id);

}  // namespace inferdiff
