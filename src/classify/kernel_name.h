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

/// The words of a name, in lower case, each between underscores. A word ends
/// where a capital letter follows a small one, or where a small one follows
/// the second of two capitals or of a digit and a capital:
/// "ns::QKNorm_FP8Kernel2" -> "_ns_qk_norm_fp8_kernel2_"
std::string WordsOf(std::string_view name);

}  // namespace inferdiff
