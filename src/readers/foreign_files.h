// SPDX-License-Identifier: Apache-2.0
// Files of profilers that no reader takes: what they are, and how to get one
// that can be read.
#pragma once

#include <optional>
#include <string_view>

namespace inferdiff {

struct ForeignFile {
  std::string_view what;  // "the file is ..."
  std::string_view fix;
};

/// By the first bytes, decoded; names lie.
std::optional<ForeignFile> FindForeignFile(std::string_view head);

}  // namespace inferdiff
