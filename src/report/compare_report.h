// SPDX-License-Identifier: Apache-2.0
// A comparison as text: verdict first, then why, then proof, then doubts.
// Pure functions of the result; nothing but rounding is computed here.
#pragma once

#include <string>

#include "base/text_pieces.h"
#include "compare/compare.h"
#include "report/document.h"

namespace inferdiff {

/// What terminal and Markdown lay out.
Document CompareDocument(const CompareResult& result);

/// docs/json-compare.md describes it.
void WriteCompareJson(const CompareResult& result, const TextSink& sink);
/// One line a figure: table, row, a, b; docs/compare.md.
std::string CompareTsvText(const CompareResult& result);

}  // namespace inferdiff
