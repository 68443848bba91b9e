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
/// The script and the style of the HTML page, and what allows them, which
/// `./dev web` makes of web/: page.js, page.css, policy.txt.
const std::vector<EmbeddedText>& embedded_page();

}  // namespace inferdiff
