// SPDX-License-Identifier: Apache-2.0
// Any bytes: read, or refused, and with the same result for any number of
// threads and any size of block.
#include "../unit/trace_text.h"
#include "base/error.h"
#include "readers/chrome_json.h"
#include "scratch_file.h"

namespace inferdiff {
namespace {

std::string Outcome(const std::string& path, unsigned threads, size_t block) {
  try {
    const InputFile file(path);
    ReadOptions options;
    options.threads = threads;
    return TextOf(ReadChrome(file, DetectCompression(file), options, block));
  } catch (const InputError& error) {
    return error.id;
  }
}

}  // namespace
}  // namespace inferdiff

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const inferdiff::ScratchFile scratch("chrome_fuzz");
  scratch.Write(data, size);
  const std::string one = inferdiff::Outcome(scratch.path(), 1, 512);
  if (inferdiff::Outcome(scratch.path(), 2, 512) != one) std::abort();
  // How much of a damaged stream a decoder gives away before it notices
  // depends on how much it is asked for.
  const bool compressed =
      size > 1 && (data[0] == 0x1f || (data[0] == 0x28 && data[1] == 0xb5));
  if (compressed) return 0;
  if (inferdiff::Outcome(scratch.path(), 1, 1 << 16) != one) std::abort();
  if (inferdiff::Outcome(scratch.path(), 3, 256) != one) std::abort();
  return 0;
}
