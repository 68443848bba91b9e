// SPDX-License-Identifier: Apache-2.0
// What a careful engineer would say about the tables, each sentence with its
// figures and how they are known. Nothing is said where nothing is there.
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// What the comparison shows; empty where the verdict is "no".
std::vector<Finding> FindResults(const CompareResult& result);

/// What speaks against reading too much into it.
std::vector<Finding> FindDoubts(const CompareResult& result);

/// Do the walls of single steps overlap (10th to 90th percentile)? Then the
/// difference of the means is less than what steps differ by anyway.
bool WithinSpread(const CompareResult& result);

std::vector<GapPart> PartsOfGap(const CompareResult& result);

}  // namespace inferdiff
