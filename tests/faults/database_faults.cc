// SPDX-License-Identifier: Apache-2.0
// Damages a database byte by byte and reads each twice: with one thread and
// with two, in memory that lies elsewhere. Ends with 0 and a line of counts, or
// dies where the two differ; the input is then left behind.
//
//   database_faults FILE SCRATCH COUNT SEED
//
// Each of COUNT times one to four bytes are set to others. Half of them stand
// at the beginning of a page, where offsets are, and half of the new values are
// the ends of a range: 0x00, 0x7f, 0x80 and 0xff.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <string>

#include "../unit/trace_text.h"
#include "base/error.h"
#include "base/input_file.h"
#include "readers/sqlite_trace.h"

namespace inferdiff {
namespace {

std::string OutcomeOf(const std::string& path, unsigned threads) {
  ReadOptions options;
  options.threads = threads;
  try {
    return TextOf(ReadSqlite(InputFile(path), Compression::kPlain, options));
  } catch (const InputError& error) {
    return error.id + ": " + error.what();
  }
}

std::string Damaged(std::string bytes, std::mt19937_64* random) {
  constexpr size_t kPage = 512;  // of the seeds of the fuzzers
  constexpr size_t kHead = 48;
  constexpr unsigned char kEdges[] = {0x00, 0x7f, 0x80, 0xff};
  for (auto left = (*random)() % 4 + 1; left != 0; --left) {
    size_t at = (*random)() % bytes.size();
    if ((*random)() % 2 == 0) at = at / kPage * kPage + at % kHead;
    char& byte = bytes[at];
    const uint64_t drawn = (*random)();
    byte = static_cast<char>(drawn % 2 == 0 ? kEdges[drawn / 2 % 4]
                                            : drawn / 2 % 256);
  }
  return bytes;
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string path = argv[1];
  const std::string scratch = argv[2];
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::mt19937_64 random(std::stoul(argv[4]));
  const size_t count = std::stoul(argv[3]);
  size_t read = 0;
  size_t damaged = 0;
  for (size_t i = 0; i < count; ++i) {
    std::ofstream(scratch, std::ios::binary)
        << inferdiff::Damaged(bytes, &random);
    const std::string one = inferdiff::OutcomeOf(scratch, 1);
    // A thread of its own has its memory somewhere else.
    const std::string two =
        std::async(std::launch::async, inferdiff::OutcomeOf, scratch, 2).get();
    if (one != two) {
      std::fprintf(stderr, "%s, once:\n%s\nand again:\n%s\n", scratch.c_str(),
                   one.c_str(), two.c_str());
      std::abort();
    }
    read += one.substr(0, 4) == "crc " ? 1 : 0;
    damaged += one.find("\ndamaged_table ") != one.npos ? 1 : 0;
  }
  std::printf("%s: %zu read, %zu of them with damage, %zu refused\n",
              path.c_str(), read, damaged, count - read);
  return damaged == 0 ? 1 : 0;
}
