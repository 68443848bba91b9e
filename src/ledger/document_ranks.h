// SPDX-License-Identifier: Apache-2.0
// The ranks of a set in a ledger's JSON. How their clocks were aligned and the
// longest waits are not read: no comparison rests on them.
#pragma once

#include "ledger/document_fields.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// Fills LedgerResult::ranks and Step::rank; nothing where it is no set's. The
/// steps must be there already, those left out with their ranks.
void ReadRanks(const DocumentJson& document, LedgerResult* ledger);

}  // namespace inferdiff
