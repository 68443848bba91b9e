// SPDX-License-Identifier: Apache-2.0
#include "cli/gates.h"

#include <fmt/core.h>

#include "cli/output.h"

namespace inferdiff {

std::vector<Gate> ParseGates(const std::vector<std::string>& texts,
                             GateScope scope) {
  std::vector<Gate> gates;
  for (const std::string& text : texts) gates.push_back(ParseGate(text, scope));
  return gates;
}

int GateCode(const std::vector<std::string>& failed) {
  for (const std::string& sentence : failed)
    WriteMessage(fmt::format("inferdiff: {}\n", sentence));
  return failed.empty() ? 0 : 1;
}

}  // namespace inferdiff
