// SPDX-License-Identifier: Apache-2.0
#include "cli/passed_over.h"

#include <fmt/core.h>

#include "cli/output.h"

namespace inferdiff {

void SayPassedOver(const InputSet& set) {
  if (const std::string text = PassedOverText(set); !text.empty())
    WriteMessage(fmt::format("inferdiff: {}\n", text));
}

}  // namespace inferdiff
