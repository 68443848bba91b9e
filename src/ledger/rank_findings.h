// SPDX-License-Identifier: Apache-2.0
// What is uneven among the ranks of a set, and which rank makes others wait.
#pragma once

#include "ledger/ledger.h"

namespace inferdiff {

/// Nothing is found where the ledger is of one rank. Waiting under a hundredth
/// of the wall is not worth a rank's name.
RankFindings FindAmongRanks(const LedgerResult& ledger);

}  // namespace inferdiff
