// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys_names.h"

#include <fmt/core.h>

#include <iterator>
#include <string_view>

namespace inferdiff {
namespace {

/// Empty for a number that is no kind of memory.
std::string_view MemoryOf(int64_t kind) {
  constexpr std::string_view kKinds[] = {
      "Pageable", "Pinned",        "Device",         "Array",
      "Managed",  "Device Static", "Managed Static", "Unknown"};
  return kind >= 0 && kind < std::ssize(kKinds) ? kKinds[kind] : "";
}

std::string_view DirectionOf(int64_t kind) {
  constexpr std::string_view kKinds[] = {
      "Unknown", "HtoD",           "DtoH",           "HtoA",          "AtoH",
      "AtoA",    "AtoD",           "DtoA",           "DtoD",          "HtoH",
      "PtoP",    "HtoD (Unified)", "DtoH (Unified)", "DtoD (Unified)"};
  return kind >= 0 && kind < std::ssize(kKinds) ? kKinds[kind] : kKinds[0];
}

}  // namespace

std::string NsysCopyName(int64_t kind, int64_t from, int64_t to) {
  const std::string_view source = MemoryOf(from);
  const std::string_view target = MemoryOf(to);
  if (source.empty() || target.empty())
    return fmt::format("Memcpy {}", DirectionOf(kind));
  return fmt::format("Memcpy {} ({} -> {})", DirectionOf(kind), source, target);
}

std::string NsysMemsetName(int64_t memory) {
  const std::string_view name = MemoryOf(memory);
  return name.empty() ? "Memset" : fmt::format("Memset ({})", name);
}

}  // namespace inferdiff
