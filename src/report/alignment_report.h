// SPDX-License-Identifier: Apache-2.0
// What does the same work on both sides, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "compare/compare.h"
#include "report/document.h"
#include "report/json_stream.h"

namespace inferdiff {

/// A row a role: kernels and time a layer of A, of B, and the difference a
/// step. Empty where a side has no layers.
std::vector<Section> AlignmentSections(const CompareResult& result);

/// What the role's kernels are on both sides, and why they are matched.
Section RoleSection(const RoleDive& dive);
nlohmann::ordered_json JsonOfRole(const RoleDive& dive);

/// `alignment`: one entry a group, its ops by ordinal.
void WriteAlignment(const CompareResult& result, JsonStream& out);

}  // namespace inferdiff
