// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace: read, or refused, and with the same result for any
// number of threads and any window; then everything that is made of it, with
// its sums.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../faults/whole_program.h"
#include "../unit/trace_text.h"
#include "base/error.h"
#include "readers/kineto_json.h"

namespace inferdiff {
namespace {

/// A file in memory where there is such a thing.
class ScratchFile {
 public:
  ScratchFile() : path_("/dev/shm/kineto_fuzz_" + std::to_string(getpid())) {}
  void Write(const uint8_t* data, size_t size) const {
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    if (file == nullptr) std::abort();
    if (std::fwrite(data, 1, size, file) != size) std::abort();
    std::fclose(file);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string Outcome(const std::string& path, unsigned threads, size_t window) {
  try {
    const InputFile file(path);
    ReadOptions options;
    options.threads = threads;
    KinetoTuning tuning;
    tuning.window = window;
    return TextOf(ReadKineto(file, DetectCompression(file), options, tuning));
  } catch (const InputError& error) {
    return error.id;
  }
}

}  // namespace
}  // namespace inferdiff

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const inferdiff::ScratchFile scratch;
  scratch.Write(data, size);
  const std::string one = inferdiff::Outcome(scratch.path(), 1, 512);
  if (inferdiff::Outcome(scratch.path(), 2, 512) != one) std::abort();
  // How much of a damaged stream a decoder gives away before it notices
  // depends on how much it is asked for.
  const bool compressed =
      size > 1 && (data[0] == 0x1f || (data[0] == 0x28 && data[1] == 0xb5));
  if (!compressed) {
    if (inferdiff::Outcome(scratch.path(), 1, 1 << 16) != one) std::abort();
    if (inferdiff::Outcome(scratch.path(), 3, 256) != one) std::abort();
  }
  static const inferdiff::RuleSet rules = inferdiff::RuleSet::Load();
  const std::string ledger = inferdiff::LedgerOutcome(scratch.path(), rules, 1);
  if (ledger[0] != '{') return 0;  // refused
  if (inferdiff::LedgerOutcome(scratch.path(), rules, 2) != ledger)
    std::abort();
  inferdiff::CompareFiles(
      scratch.path(), inferdiff::LedgerOfFile(scratch.path(), rules, 1), rules);
  return 0;
}
