// SPDX-License-Identifier: Apache-2.0
// The rows in which ledgers are compared.
#pragma once

#include <vector>

#include "compare/compare.h"

namespace inferdiff {

/// CategoryGroups(), unless a ledger is a published table: then its rows, and
/// where two tables draw their lines differently, what is between lines that
/// both have.
std::vector<CategoryGroup> RowGroups(
    const std::vector<const LedgerResult*>& ledgers);

}  // namespace inferdiff
