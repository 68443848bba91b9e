// SPDX-License-Identifier: Apache-2.0
// Ledgers on their way out, as reports and as ledger files.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/gates.h"
#include "cli/options.h"
#include "cli/output.h"
#include "ledger/ledger_file.h"

namespace inferdiff {

/// All of them, terminal first.
extern const std::vector<Format> kLedgerFormats;

struct LedgerOutput {
  const CommonOptions& common;
  int64_t top = 10;              // kernels and families to list
  std::vector<Gate> gates = {};  // none for a part
};

/// The exit code.
int WriteLedger(Outputs& outputs, const LedgerOutput& output,
                const LedgerResult& ledger);
/// The same, and ledger files. The part is the whole where a report is wanted.
int WriteLedger(Outputs& outputs, const LedgerOutput& output,
                const LedgerPart& part, bool from_files);

}  // namespace inferdiff
