// SPDX-License-Identifier: Apache-2.0
// From the records of one rocprof run to traces.
#pragma once

#include <string>
#include <vector>

#include "model/trace.h"
#include "readers/rocprof_records.h"

namespace inferdiff {

/// How names stand in the file.
enum class RocprofText : uint8_t { kCsv, kJson };

struct RocprofInput {
  /// In the order of the files; ordinals start again with each file.
  std::vector<std::vector<RocprofBatch>> files;
  std::vector<RocprofAgent> agents;
  RocprofText text = RocprofText::kCsv;
  /// Of all records that name no process, "" when unknown.
  std::string process;
  bool truncated = false;
};

/// Consumes the records; fills file->traces, and adds to file->counters what
/// the batches do not count. An agent
/// "Agent 4", "4" or "GPU 0" is the device of its number. A lane is a stream,
/// or, where all streams are 0 (the runtime told the profiler none), a queue;
/// copies without a stream have a lane of their own.
void AssembleRocprof(RocprofInput input, SourceFile* file);

}  // namespace inferdiff
