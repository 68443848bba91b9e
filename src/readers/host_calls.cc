// SPDX-License-Identifier: Apache-2.0
#include "readers/host_calls.h"

#include <initializer_list>

namespace inferdiff {
namespace {

bool StartsWithAny(std::string_view text,
                   std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (text.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

NameUse UseOfCall(std::string_view name) {
  if (StartsWithAny(name, {"cuda", "hip"})) {
    name.remove_prefix(name[0] == 'c' ? 4 : 3);
  } else if (StartsWithAny(name, {"cu"})) {
    name.remove_prefix(2);
  }
  if (StartsWithAny(name, {"StreamBeginCapture"})) {
    return {false, {}, true};
  }
  if (StartsWithAny(name, {"GraphLaunch"})) {
    return {true, CallKind::kGraphLaunch};
  }
  if (Contains(name, "Launch") && Contains(name, "Kernel")) {
    return {true, CallKind::kKernelLaunch};
  }
  if (Contains(name, "Synchronize")) return {true, CallKind::kSync};
  if (StartsWithAny(name, {"Memcpy"})) return {true, CallKind::kMemcpy};
  if (StartsWithAny(name, {"Memset"})) return {true, CallKind::kMemset};
  if (!Contains(name, "Async") &&
      StartsWithAny(name, {"Malloc", "Free", "Host", "Mem"}) &&
      (Contains(name, "lloc") || Contains(name, "Free") ||
       Contains(name, "Create") || Contains(name, "Map") ||
       Contains(name, "Unmap") || Contains(name, "Release"))) {
    return {true, CallKind::kAlloc};
  }
  return {};
}

}  // namespace inferdiff
