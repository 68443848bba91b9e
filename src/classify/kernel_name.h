// SPDX-License-Identifier: Apache-2.0
// The parts of a kernel's name.
//
//   void (anonymous namespace)::norm_kernel<float, 4>(float*, int) [clone .kd]
//   ----                        ------------------------------------
//   dropped                     head         arguments  parameters
#pragma once

#include <string>
#include <string_view>

namespace inferdiff {

/// Where the head of a display name ends: at the first '<' or '(' of a
/// template argument or parameter list. "(anonymous namespace)" is neither.
size_t HeadLength(std::string_view display_name);

/// `name` without "(anonymous namespace)::", "<unnamed>::" and the like,
/// wherever they stand. What rules match and families are made from.
std::string WithoutAnonymous(std::string_view name);

}  // namespace inferdiff
