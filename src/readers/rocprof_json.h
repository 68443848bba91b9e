// SPDX-License-Identifier: Apache-2.0
// rocprofv3 --output-format json.
//
//   {"rocprofiler-sdk-tool": [{
//     "metadata": {"pid": 908, ...},
//     "agents": [{"id": {"handle": 37946}, "type": 2, "logical_node_id": 2,
//                 "product_name": "AMD Instinct MI350X", ...}, ...],
//     "strings": {"buffer_records": [{"kind": "KERNEL_DISPATCH",
//                                     "operations": [...]}, ...],
//                 "marker_api": [{"key": 7, "value": "step"}, ...], ...},
//     "kernel_symbols": [{"kernel_id": 8, "formatted_kernel_name": ...}, ...],
//     "buffer_records": {"kernel_dispatch": [
//       {"size": 184, "kind": 11, "operation": 2, "thread_id": 908,
//        "correlation_id": {"internal": 1, "external": 0},
//        "start_timestamp": 63857982592000, "end_timestamp": 63857982594840,
//        "dispatch_info": {"agent_id": {"handle": 37946},
//                          "queue_id": {"handle": 16}, "kernel_id": 8, ...},
//        "stream_id": {"handle": 0}}, ...],
//      "memory_copy": [...], "hip_api": [...], "marker_api": [...]}}]}
//
// One object a process. Times are nanoseconds. Kinds and operations are
// numbers that differ between versions: their names are in the strings. The
// ordinal of a record is its index in the array, counted on over processes.
// See docs/format-rocprofv3.md for what maps to what.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/byte_source.h"
#include "base/input_file.h"
#include "model/trace.h"
#include "readers/reader.h"

namespace inferdiff {

/// By the first 64 KiB of decoded text.
bool SniffRocprofJson(std::string_view head);

struct RocprofJsonTuning {
  /// Bytes of text that are looked at at a time.
  size_t block = 256 * 1024;
};

/// Fills everything of SourceFile but path and size. No traces: no GPU
/// activity. Throws what ByteSource throws.
SourceFile ReadRocprofJson(const InputFile& file, Compression compression,
                           const ReadOptions& options,
                           const RocprofJsonTuning& tuning = {});

}  // namespace inferdiff
