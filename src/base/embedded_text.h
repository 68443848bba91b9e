// SPDX-License-Identifier: Apache-2.0
// Text files that travel inside the binary; the definitions are generated.
#pragma once

#include <string_view>
#include <vector>

namespace inferdiff {

struct EmbeddedText {
  std::string_view name;  // "kernels.toml"
  std::string_view text;
};

/// The files of rules/, by name.
const std::vector<EmbeddedText>& embedded_rules();

}  // namespace inferdiff
