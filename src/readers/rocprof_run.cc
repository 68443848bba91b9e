// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_run.h"

#include <filesystem>

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view,
                     static_cast<size_t>(RocprofTable::kCount)>
    kTables = {"kernel_trace", "memory_copy_trace", "hip_api_trace",
               "marker_api_trace", "agent_info"};
constexpr std::array<std::string_view, 3> kEndings = {".csv", ".csv.gz",
                                                      ".csv.zst"};

/// Length of the text in front of "kernel_trace.csv" and the like; npos: the
/// name has no such ending.
size_t PrefixLength(std::string_view path) {
  for (const std::string_view table : kTables) {
    for (const std::string_view ending : kEndings) {
      const size_t length = table.size() + ending.size();
      if (path.size() < length) continue;
      const size_t prefix = path.size() - length;
      if (path.substr(prefix, table.size()) != table ||
          path.substr(prefix + table.size()) != ending) {
        continue;
      }
      const char before = prefix == 0 ? '/' : path[prefix - 1];
      if (before == '/' || before == '_') return prefix;
    }
  }
  return path.npos;
}

}  // namespace

RocprofRun FindRocprofRun(const std::string& path) {
  RocprofRun run;
  const size_t length = PrefixLength(path);
  if (length == std::string::npos) return run;
  run.prefix = path.substr(0, length);
  for (size_t i = 0; i < kTables.size(); ++i) {
    for (const std::string_view ending : kEndings) {
      const std::string name =
          run.prefix + std::string(kTables[i]) + std::string(ending);
      std::error_code error;
      if (!fs::is_regular_file(name, error)) continue;
      // Of several the one that was named, else the first.
      if (run.paths[i].empty() || name == path) run.paths[i] = name;
    }
  }
  return run;
}

std::string WithoutRocprofEnding(const std::string& name) {
  const size_t length = PrefixLength(name);
  if (length == std::string::npos || length == 0 || name[length - 1] == '/') {
    return name;
  }
  return name.substr(0, length - 1);
}

}  // namespace inferdiff
