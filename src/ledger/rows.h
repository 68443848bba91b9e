// SPDX-License-Identifier: Apache-2.0
// The rows of a ledger's tables, from the accounts of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "classify/classify.h"
#include "ledger/kernel_table.h"
#include "ledger/ledger.h"
#include "ledger/step_accounts.h"
#include "ledger/step_ops.h"

namespace inferdiff {

void FillCategories(const KernelTable& table, const StepAccounts& accounts,
                    LedgerResult* result);

/// All but the call times. Returns the row of each kernel of the table, or
/// kNone where no used step has it.
std::vector<uint32_t> FillKernels(const KernelTable& table,
                                  const StepAccounts& accounts,
                                  const RuleSet& rules, LedgerResult* result);

/// `row_of` is what FillKernels returned.
void FillCallTimes(const StepOps& index, const KernelTable& table,
                   const std::vector<uint32_t>& row_of, unsigned threads,
                   bool keep_samples, LedgerResult* result);

void FillFamilies(const KernelTable& table, const StepAccounts& accounts,
                  LedgerResult* result);

std::vector<RuleHits> HitsOf(const KernelTable& table, const RuleSet& rules);

/// `in_steps_ns`: durations of the used steps' ops.
Coverage CoverageOf(const KernelTable& table, int64_t in_steps_ns,
                    const PerStep& per_step);

}  // namespace inferdiff
