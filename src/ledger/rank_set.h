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
#include "ledger/packed_rank.h"

namespace inferdiff {

/// The ledger of a rank set, by ledgers whose `devices` holds their own device
/// only, unless there is just one. At least one; in any order: the result is
/// the same. They are unpacked one at a time.
///
/// Ranks whose accounted steps have another kind, batch or number of tokens
/// than those of most ranks are left out of the sums, in a note; they still
/// take part in collectives. Where no collective can be matched, rank wait is
/// each rank's own bound. One ledger comes out as it would alone.
///
/// Throws ContractError when the sums do not hold, and what Unpack throws.
LedgerResult JoinRanks(const std::vector<PackedRank>& ranks,
                       const std::string& label);

}  // namespace inferdiff
