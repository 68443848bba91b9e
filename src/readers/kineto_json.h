// SPDX-License-Identifier: Apache-2.0
// PyTorch's (Kineto's) Chrome trace: JSON, of CUDA and of ROCm.
//
//   {"schemaVersion": 1, "deviceProperties": [...], "distributedInfo": {...},
//    "baseTimeNanoseconds": 1790857026000000000,
//    "traceEvents": [
//      {"ph": "X", "cat": "kernel", "name": "nvjet_sm90", "pid": 0, "tid": 7,
//       "ts": 5115527810780.217, "dur": 7.488,
//       "args": {"device": 0, "stream": 7, "correlation": 34064}},
//      ...], "traceName": "/tmp/x.json"}
//
// or the bare array. See docs/format-kineto.md for what maps to what.
#pragma once

#include <string_view>

#include "base/byte_source.h"
#include "base/input_file.h"
#include "model/trace.h"
#include "readers/reader.h"

namespace inferdiff {

/// By the first 64 KiB of decoded text.
bool SniffKineto(std::string_view head);

struct KinetoTuning {
  /// Bytes of text that one thread takes at a time. A buffer of this size
  /// stays in the second-level cache.
  size_t window = 512 * 1024;
};

/// Fills everything of SourceFile but path and size. No traces: no GPU
/// activity. Throws InputError "no-trace-events", and what ByteSource throws.
SourceFile ReadKineto(const InputFile& file, Compression compression,
                      const ReadOptions& options,
                      const KinetoTuning& tuning = {});

}  // namespace inferdiff
