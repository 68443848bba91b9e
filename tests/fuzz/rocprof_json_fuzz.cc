// SPDX-License-Identifier: Apache-2.0
#include "block_fuzz.h"
#include "readers/rocprof_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace inferdiff;
  static const ScratchFile scratch("rocprof_json_fuzz");
  ReadInBlocks(scratch, data, size,
               [](const InputFile& file, Compression compression,
                  const ReadOptions& options, size_t block) {
                 return ReadRocprofJson(file, compression, options, {block});
               });
  return 0;
}
