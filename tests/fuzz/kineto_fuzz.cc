// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace: read, or refused, and with the same result for any
// number of threads and any window; then everything that is made of it, with
// its sums.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "../faults/whole_program.h"
#include "../unit/trace_text.h"
#include "base/error.h"
#include "readers/kineto_json.h"
#include "scratch_file.h"

namespace inferdiff {
namespace {

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
  static const inferdiff::ScratchFile scratch("kineto_fuzz");
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
