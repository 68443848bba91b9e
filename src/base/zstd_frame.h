// SPDX-License-Identifier: Apache-2.0
// Pieces of memory, compressed on their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inferdiff {

/// The same bytes for the same text and library.
std::string ZstdFrame(std::string_view text);

/// Nothing where it is no frame, is damaged, or unfolds to more than 32 MiB
/// and 64 times its size.
std::optional<std::string> UnfoldZstdFrame(std::string_view frame);

}  // namespace inferdiff
