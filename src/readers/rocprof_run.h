// SPDX-License-Identifier: Apache-2.0
// The CSV files of one rocprofv3 run, found from any one of them.
//
//   node7/4711_agent_info.csv        processors of the host
//   node7/4711_kernel_trace.csv      what the GPU did
//   node7/4711_memory_copy_trace.csv
//   node7/4711_hip_api_trace.csv     what the process called
//   node7/4711_marker_api_trace.csv  ranges that it named (roctx)
//
// They belong together by the text in front of the ending.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace inferdiff {

enum class RocprofTable : uint8_t {
  kKernels,
  kCopies,
  kHip,
  kMarkers,
  kAgents,
  kCount
};

struct RocprofRun {
  /// Of the files: "node7/4711_". Empty paths: there is no such file.
  std::string prefix;
  std::array<std::string, static_cast<size_t>(RocprofTable::kCount)> paths;

  std::string& operator[](RocprofTable table) {
    return paths[static_cast<size_t>(table)];
  }
};

/// The run of which `path` is a file. A file of another name is a run of its
/// own, with all paths empty.
RocprofRun FindRocprofRun(const std::string& path);

/// `name` without the ending that says which file of a run it is:
/// "4711_kernel_trace.csv.gz" -> "4711". Unchanged where it has none, and
/// where nothing would be left.
std::string WithoutRocprofEnding(const std::string& name);

}  // namespace inferdiff
