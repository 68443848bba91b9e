// SPDX-License-Identifier: Apache-2.0
// One role on both sides: which kernels do its work, and why they are held
// against each other.
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// The role's groups of the alignment, alike ones in one row: the same kernel
/// families on both sides for the same reason.
RoleDive DiveIntoRole(Role role, const CompareResult& result);

}  // namespace inferdiff
