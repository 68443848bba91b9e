// SPDX-License-Identifier: Apache-2.0
// Ledger files -> the ledger of their set.
#pragma once

#include "ledger/ledger_file.h"
#include "load/inputs.h"

namespace inferdiff {

/// The whole of which the files are the parts. Throws InputError: what
/// ReadLedgerFile and JoinParts throw.
LedgerPart ReadLedgers(const InputSet& inputs);

/// JoinRanks of what files hold. Throws InputError "damaged-ledger" where the
/// sums do not hold: they did where the file was written.
LedgerResult JoinLedger(const LedgerPart& part);

}  // namespace inferdiff
