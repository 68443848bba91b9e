// SPDX-License-Identifier: Apache-2.0
// What the page of a comparison and that of one ledger have in common.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/timeline.h"
#include "ledger/ledger.h"
#include "report/html_page.h"

namespace inferdiff {

/// One side of the first screen: label, facts, and the figure that counts.
std::string HtmlCard(std::string_view side, const LedgerResult& ledger,
                     const std::string& figure, std::string_view what);

/// Where the timelines are drawn; without a script, a sentence. The first is
/// the side's name.
PagePart TimelinePart(
    const std::vector<std::pair<std::string, const SideTimeline*>>& sides);

/// What the records of each input lost or needed.
std::string HtmlImports(std::string_view side, const LedgerResult& ledger);

/// Inputs, versions, how steps were found, and what the words mean.
PagePart ProvenancePart(
    const std::vector<std::pair<std::string, const LedgerResult*>>& sides);

}  // namespace inferdiff
