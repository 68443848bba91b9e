// SPDX-License-Identifier: Apache-2.0
// A comparison as text: verdict first, then why, then proof, then doubts.
// Pure functions of the result; nothing but rounding is computed here.
#pragma once

#include <string>

#include "compare/compare.h"
#include "report/document.h"

namespace inferdiff {

/// What terminal and Markdown lay out.
Document CompareDocument(const CompareResult& result);

/// docs/json-compare.md describes it.
std::string CompareJsonText(const CompareResult& result);
/// One line a figure: table, row, a, b; docs/compare.md.
std::string CompareTsvText(const CompareResult& result);

}  // namespace inferdiff
