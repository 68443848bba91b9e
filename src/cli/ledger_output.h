// SPDX-License-Identifier: Apache-2.0
// Ledgers on their way out, as reports and as ledger files.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/options.h"
#include "cli/output.h"
#include "ledger/ledger_file.h"

namespace inferdiff {

/// All of them, terminal first.
extern const std::vector<Format> kLedgerFormats;

/// The exit code. `top`: kernels and families to list.
int WriteLedger(Outputs& outputs, const CommonOptions& common,
                const LedgerResult& ledger, int64_t top);
/// The same, and ledger files. The part is the whole where a report is wanted.
int WriteLedger(Outputs& outputs, const CommonOptions& common,
                const LedgerPart& part, bool from_files, int64_t top);

}  // namespace inferdiff
