// SPDX-License-Identifier: Apache-2.0
// A ledger's amounts as they are printed: step, categories, families and
// kernels in last digits, each adding up to what stands above it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ledger/ledger.h"
#include "report/step_parts.h"

namespace inferdiff {

struct PrintedLedger {
  StepParts step;
  std::array<int64_t, kCategoryCount> times{}, hidden{};
  int64_t wait_time = 0, wait_hidden = 0;  // rank wait
  std::vector<int64_t> families, kernels;  // attributed times
};

/// Totals over `steps`.
PrintedLedger PrintLedger(const LedgerResult& ledger, int64_t steps,
                          Precision precision);

}  // namespace inferdiff
