// SPDX-License-Identifier: Apache-2.0
// JSON string contents -> UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace inferdiff {

struct DecodedText {
  std::string text;          // valid UTF-8
  bool replaced = false;     // something was not UTF-8: U+FFFD stands for it
  bool has_control = false;  // bytes below 0x20 stood in it as they are
};

/// Resolves escapes; one that is malformed is kept as it is written.
DecodedText DecodeJsonText(std::string_view raw);

/// The same of text that knows no escapes: CSV, a database.
DecodedText RepairText(std::string_view raw);

/// True when DecodeJsonText would return `raw` itself, without remarks.
bool IsPlainText(std::string_view raw);

}  // namespace inferdiff
