// SPDX-License-Identifier: Apache-2.0
// Damages a file in every way asked for and runs each through the whole
// program, in this process. Ends with 0 and a line of counts, or dies where
// something crashes or does not add up; the input is then left behind.
//
//   program_faults FILE SCRATCH RULE COUNT SEED STRIDE
//
// RULE prefix: the first n bytes, for n = SEED, SEED + STRIDE ... RULE flip:
// COUNT times one to four bits flipped. Every 16th is compared, too.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "whole_program.h"

namespace inferdiff {
namespace {

class Runner {
 public:
  Runner(const std::string& original, const std::string& scratch)
      : scratch_(scratch), other_(LedgerOfFile(original, rules_, 1)) {}

  void Run(const std::string& bytes) {
    std::ofstream(scratch_, std::ios::binary) << bytes;
    const std::string one = LedgerOutcome(scratch_, rules_, 1);
    const bool read = one[0] == '{';
    (read ? read_ : refused_)++;
    if (++runs_ % 16 != 0) return;
    if (LedgerOutcome(scratch_, rules_, 2) != one)
      FailWhole("another result with two threads");
    if (CompareFiles(scratch_, other_, rules_) != read)
      FailWhole("read by ledger, refused by compare");
  }
  void Print(const std::string& what) const {
    std::printf("%s: %zu runs, %zu read, %zu refused\n", what.c_str(), runs_,
                read_, refused_);
  }

 private:
  std::string scratch_;
  RuleSet rules_ = RuleSet::Load();
  LedgerResult other_;
  size_t runs_ = 0, read_ = 0, refused_ = 0;
};

std::string Flipped(std::string bytes, std::mt19937_64* random) {
  for (auto flips = (*random)() % 4 + 1; flips != 0; --flips) {
    char& byte = bytes[(*random)() % bytes.size()];
    byte = static_cast<char>(byte ^ (1U << ((*random)() % 8)));
  }
  return bytes;
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const std::string path = argv[1];
  const std::string rule = argv[3];
  const size_t count = std::stoul(argv[4]);
  const size_t seed = std::stoul(argv[5]);
  const size_t stride = std::stoul(argv[6]);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  inferdiff::Runner runner(path, argv[2]);
  std::mt19937_64 random(seed);
  if (rule == "prefix") {
    for (size_t size = seed; size <= bytes.size(); size += stride)
      runner.Run(bytes.substr(0, size));
  } else {
    for (size_t i = 0; i < count; ++i)
      runner.Run(inferdiff::Flipped(bytes, &random));
  }
  runner.Print(path.substr(path.rfind('/') + 1) + " " + rule);
  return 0;
}
