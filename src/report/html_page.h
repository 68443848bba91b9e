// SPDX-License-Identifier: Apache-2.0
// One self-contained page: nothing is fetched, no text of a file is markup,
// and every table stands there before any script runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_pieces.h"
#include "compare/compare.h"
#include "ledger/ledger.h"
#include "report/document.h"

namespace inferdiff {

/// A heading and what stands under it. `body` is HTML, all else plain text.
struct PagePart {
  std::string id;     // of letters, digits and "-"; unique on the page
  std::string nav;    // its short name in the list of contents
  std::string title;  // may be empty: the hero has its own
  std::string body;
};

struct Page {
  std::string title;    // of the window
  std::string command;  // what made it: "compare"
  std::string hero;     // HTML: the first screen's head
  std::vector<PagePart> parts;
  /// JSON for the script: what it draws. Empty: nothing.
  std::string drawing;
};

void WritePage(const Page& page, const TextSink& sink);

/// The sections of a document as parts, in order, each with its id.
/// A section without an id is named by its number.
std::vector<PagePart> PartsOf(const Document& document);

void WriteComparePage(const CompareResult& result, const TextSink& sink);
void WriteLedgerPage(const LedgerResult& ledger, const TextSink& sink);

}  // namespace inferdiff
