// SPDX-License-Identifier: Apache-2.0
// Copies and memsets have no names in Nsight Systems, only kinds; they get
// the names that CUDA's other profilers print.
#pragma once

#include <cstdint>
#include <string>

namespace inferdiff {

/// No such kind, or none in the file.
inline constexpr int64_t kNoKind = -1;

/// "Memcpy HtoD (Pinned -> Device)"; without the memories where one is not
/// known. Numbers are those of ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND.
std::string NsysCopyName(int64_t kind, int64_t from, int64_t to);
/// "Memset (Device)".
std::string NsysMemsetName(int64_t memory);

}  // namespace inferdiff
