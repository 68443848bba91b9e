// SPDX-License-Identifier: Apache-2.0
// Machine or software, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "compare/compare.h"
#include "report/document.h"

namespace inferdiff {

/// Empty without a model.
std::vector<Section> MachineSections(const CompareResult& result);
/// null without a model.
nlohmann::ordered_json MachineJson(const CompareResult& result);

}  // namespace inferdiff
