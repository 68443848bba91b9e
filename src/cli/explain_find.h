// SPDX-License-Identifier: Apache-2.0
// Looks up in a loaded trace what `explain` is asked about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load/load.h"
#include "report/explain_report.h"

namespace inferdiff {

/// Does a name match? `*` and the ellipsis of our tables stand for anything.
bool MatchesPattern(std::string_view pattern, std::string_view name);

/// The kernels whose name, as written or demangled, or family is `pattern`;
/// without one, those that contain it. By time.
std::vector<KernelExplanation> FindKernels(const LoadedTrace& loaded,
                                           const RuleSet& rules,
                                           const std::string& pattern);

/// Throws InputError "usage" when there is no such step.
StepExplanation FindStep(const LoadedTrace& loaded, const RuleSet& rules,
                         int64_t number);

}  // namespace inferdiff
