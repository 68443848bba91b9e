// SPDX-License-Identifier: Apache-2.0
// --fail-if: conditions on which a run exits with 1.
#pragma once

#include <string>
#include <vector>

#include "compare/gate.h"

namespace inferdiff {

/// Before any trace is read. Throws InputError "usage".
std::vector<Gate> ParseGates(const std::vector<std::string>& texts,
                             GateScope scope);

/// Says on stderr what FailedGates returned, a line each: the exit code.
int GateCode(const std::vector<std::string>& failed);

}  // namespace inferdiff
