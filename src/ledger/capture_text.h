// SPDX-License-Identifier: Apache-2.0
// What a check of the capture says, and of which ranks: words for reports.
#pragma once

#include <string>

#include "ledger/ledger.h"

namespace inferdiff {

/// "Rank 2: 3 of 181 kernels ..."; no name where it is true of all ranks.
std::string CaptureText(const CaptureCheck& check, const LedgerResult& ledger);

}  // namespace inferdiff
