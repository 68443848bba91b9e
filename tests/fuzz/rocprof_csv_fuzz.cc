// SPDX-License-Identifier: Apache-2.0
#include "block_fuzz.h"
#include "readers/rocprof_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace inferdiff;
  static const ScratchFile scratch("rocprof_csv_fuzz");
  ReadInBlocks(
      scratch, data, size,
      [](const InputFile& file, Compression compression,
         const ReadOptions& options, size_t block) {
        return ReadRocprofCsv(file, compression, options, {block, false});
      });
  return 0;
}
