// SPDX-License-Identifier: Apache-2.0
// Which inferdiff this is; the definitions are generated at build time.
#pragma once

#include <string_view>

namespace inferdiff {

/// "0.1.0", from CMakeLists.txt.
std::string_view Version();

/// The commit the sources are from, twelve hex digits, with "-dirty" behind
/// them where files were changed; "unknown" outside a repository.
std::string_view Commit();

}  // namespace inferdiff
