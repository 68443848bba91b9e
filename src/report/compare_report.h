// SPDX-License-Identifier: Apache-2.0
// A comparison as text: verdict first, then why, then proof, then doubts.
// Pure functions of the result; nothing but rounding is computed here.
#pragma once

#include <string>

#include "compare/compare.h"

namespace inferdiff {

struct RenderOptions;  // report/table.h

std::string RenderCompareTerminal(const CompareResult& result,
                                  const RenderOptions& options);
std::string RenderCompareMarkdown(const CompareResult& result,
                                  const RenderOptions& options);
std::string RenderCompareJson(const CompareResult& result,
                              const RenderOptions& options);
std::string RenderCompareTsv(const CompareResult& result,
                             const RenderOptions& options);

}  // namespace inferdiff
