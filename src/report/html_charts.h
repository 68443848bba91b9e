// SPDX-License-Identifier: Apache-2.0
// Drawings that need no script. Every figure in them stands in a table, too;
// lengths are shares of the width, so they fit a phone and a sheet of paper.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compare/compare.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// What a part of the gap leads to, by GapPart::id: an id on the page.
using LinkOf = std::function<std::string(std::string_view part)>;

/// From A's step to B's, a bar a part; the text is that of WaterfallTable.
///
///   A library    |#####################| 4.926
///   attention    |             [-------]+0.262
///   idle         |             [---]    −0.188
///   B compiled   |################|      4.404
std::string HtmlWaterfall(const CompareResult& result, const LinkOf& link);

/// What ColourOf gives a category group its colour by: its first category, as
/// the rows of a published table have names of their own.
std::string_view ColourIdOf(const CompareResult& result,
                            std::string_view group);

/// Both steps side by side, a stretch a category.
std::string HtmlComposition(const CompareResult& result);
std::string HtmlComposition(const LedgerResult& ledger);

/// Each step's wall, or span, in order; left-out ones hollow. Empty where
/// fewer than two are known. `name` is the side's.
std::string HtmlSteps(const LedgerResult& ledger, std::string_view name);

/// What each rank of a set works, waits and idles. Empty for one rank.
std::string HtmlRanks(const LedgerResult& ledger);

}  // namespace inferdiff
