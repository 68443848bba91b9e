// SPDX-License-Identifier: Apache-2.0
// The "--" between A and B, as it travels through the option parser.
#pragma once

#include <string>

namespace inferdiff {

/// Options may stand on both sides of "--", so the parser must not stop at
/// it. No argument can equal this: arguments hold no NUL.
inline const std::string kSeparator = std::string(1, '\0');

}  // namespace inferdiff
