// SPDX-License-Identifier: Apache-2.0
// The sums that every ledger has to satisfy.
#pragma once

#include "ledger/ledger.h"

namespace inferdiff {

/// Throws ContractError where rows do not add up to what stands above them:
/// kernels, families, categories and rank wait, busy, wall.
void CheckSums(const LedgerResult& ledger);

}  // namespace inferdiff
