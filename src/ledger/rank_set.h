// SPDX-License-Identifier: Apache-2.0
// Several ranks -> one ledger.
//
//   TP-0 -> ledger --+
//   TP-1 -> ledger --+--> JoinRanks: match collectives, move rank wait, sum up
//   TP-2 -> ledger --+
#pragma once

#include <string>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {

/// The ledger of a rank set, by ledgers built with LedgerOptions::keep_samples
/// whose rank wait has not been moved, and whose `devices` holds their own
/// device only. At least one; in any order: the result is the same.
///
/// Ranks whose accounted steps have another kind, batch or number of tokens
/// than those of most ranks are left out of the sums, in a note; they still
/// take part in collectives. Where no collective can be matched, rank wait is
/// each rank's own bound. One ledger comes out as it would alone.
///
/// Throws ContractError when the sums do not hold.
LedgerResult JoinRanks(std::vector<LedgerResult> ranks,
                       const std::string& label);

}  // namespace inferdiff
