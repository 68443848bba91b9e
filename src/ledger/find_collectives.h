// SPDX-License-Identifier: Apache-2.0
// Collects the communication kernels' calls of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "classify/classify.h"
#include "ledger/collectives.h"
#include "ledger/kernel_table.h"
#include "ledger/step_accounts.h"
#include "ledger/step_ops.h"

namespace inferdiff {

/// `row_of` is what FillKernels returned; the accounts' segments become the
/// result's. O(n + c log c) of n ops and c calls.
Collectives FindCollectives(const StepOps& index, const Classification& classes,
                            const KernelTable& table, StepAccounts* accounts,
                            const std::vector<uint32_t>& row_of);

}  // namespace inferdiff
