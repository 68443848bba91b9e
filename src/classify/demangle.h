// SPDX-License-Identifier: Apache-2.0
// The readable form of an Itanium-mangled kernel name.
//
// abi::__cxa_demangle will not do: names come from untrusted files and 100
// bytes of them can expand to gigabytes; and the compilers that build AMD's
// kernels are newer than the C++ library here, so that it rejects the most
// frequent names of real traces (DF16b, Tn). This one reads the name and its
// template arguments, never the parameter types, and is bounded in time,
// depth and output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inferdiff {

/// "_ZN5aiter4normIDF16bLi8EEEvPT_" -> "aiter::norm<__bf16, 8>". A name that
/// is cut off, or uses something this reader does not know, still gives the
/// identifiers in it: "_ZN2ck4gemmINS_4Tile" -> "ck::gemm<Tile>".
/// Absent when `mangled` is no mangled name at all.
std::optional<std::string> Demangle(std::string_view mangled);

}  // namespace inferdiff
