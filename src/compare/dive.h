// SPDX-License-Identifier: Apache-2.0
// One category on both sides, kernel by kernel: "how long did MoE take".
#pragma once

#include "compare/compare.h"

namespace inferdiff {

CategoryDive DiveInto(const CategoryGroup& group, const CompareResult& result);

/// The kernel families of a side, by attributed time, then name. Only those
/// whose category is in `group`; all without one.
std::vector<FamilyAmounts> FamiliesOf(const LedgerResult& ledger,
                                      const SideTotals& totals,
                                      const CategoryGroup* group);

}  // namespace inferdiff
