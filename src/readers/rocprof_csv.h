// SPDX-License-Identifier: Apache-2.0
// The CSV files of rocprofv3, rocprofv2 and rocprof.
//
//   "Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id",...
//   "KERNEL_DISPATCH","Agent 1","2","2","2684120","164","33",
//   "scale_f32(float const*, float*)","40054","342331487558371",
//   "342331487561256",...
//
// Columns are found by their names, which changed from version to version;
// times are nanoseconds. The ordinal of a record is the number of its line,
// counted from 1. See docs/format-rocprofv3.md for what maps to what.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/byte_source.h"
#include "base/input_file.h"
#include "model/trace.h"
#include "readers/reader.h"

namespace inferdiff {

/// By the header, in the first 64 KiB of decoded text.
bool SniffRocprofCsv(std::string_view head);

struct RocprofCsvTuning {
  /// Bytes of text that one thread takes at a time.
  size_t window = 256 * 1024;
  /// Whether to look for the other files of the run.
  bool whole_run = true;
};

/// Reads the file and the others of its run. Fills everything of SourceFile
/// but the path; its size and checksum are those of the files in a row: kernel
/// trace, copies, HIP API, markers, agents. Throws InputError "no-gpu-events",
/// "missing-column", and what ByteSource throws.
SourceFile ReadRocprofCsv(const InputFile& file, Compression compression,
                          const ReadOptions& options,
                          const RocprofCsvTuning& tuning = {});

}  // namespace inferdiff
