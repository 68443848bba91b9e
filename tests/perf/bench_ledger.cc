// SPDX-License-Identifier: Apache-2.0
// How long a trace takes, in units of a structural scan of the same file.
//
//   bench_ledger FILE [THREADS [RUNS]]
//
// The reference reads the file through reused 1 MiB windows, cut anywhere,
// and runs simdjson's stage 1 on each: every quote, bracket, comma and colon
// found, UTF-8 checked, nothing understood. Runs alternate, so that a slow
// moment of the machine hits both. Prints medians: of the scan, of reading, and
// of reading, classifying, finding steps and accounting.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/input_file.h"
#include "classify/classify.h"
#include "ledger/ledger.h"
#include "readers/reader.h"
#include "simdjson.h"
#include "steps/steps.h"

namespace inferdiff {
namespace {

constexpr size_t kWindow = size_t{1} << 20;

template <typename Work>
double SecondsOf(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void ScanShare(const InputFile& file, std::atomic<uint64_t>* next) {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  if (simdjson::get_active_implementation()->create_dom_parser_implementation(
          kWindow, 1024, parser) != simdjson::SUCCESS) {
    std::abort();
  }
  std::vector<char> window(kWindow + simdjson::SIMDJSON_PADDING, ' ');
  while (true) {
    const uint64_t offset = (*next)++ * kWindow;
    if (offset >= file.size()) return;
    const size_t got = file.ReadAt(offset, window.data(), kWindow);
    // A window cut anywhere is often no JSON: the scan is what counts.
    static_cast<void>(
        parser->stage1(reinterpret_cast<const uint8_t*>(window.data()), got,
                       simdjson::stage1_mode::streaming_partial) ==
        simdjson::SUCCESS);
  }
}

void ScanFile(const std::string& path, unsigned threads) {
  const InputFile file(path);
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) {
    others.emplace_back([&] { ScanShare(file, &next); });
  }
  ScanShare(file, &next);
  for (std::thread& other : others) other.join();
}

struct Timings {
  std::vector<double> scan, read, ledger;
};

/// Reads, classifies, finds steps and accounts; returns the number of ops.
size_t RunOnce(const std::string& path, unsigned threads, Timings* timings) {
  timings->scan.push_back(SecondsOf([&] { ScanFile(path, threads); }));
  ReadOptions options;
  options.threads = threads;
  LedgerOptions accounting;
  accounting.threads = threads;
  SourceFile file;
  size_t ops = 0;
  const double read = SecondsOf([&] { file = ReadTrace(path, options); });
  const double rest = SecondsOf([&] {
    const RuleSet rules = RuleSet::Load();
    for (const Trace& trace : file.traces) {
      const Classification classes = Classify(trace, rules);
      const LedgerResult ledger = BuildLedger(
          trace, classes, rules, FindSteps(trace, classes), accounting);
      ops += trace.ops.size();
    }
  });
  timings->read.push_back(read);
  timings->ledger.push_back(read + rest);
  return ops;
}

void Main(const std::string& path, unsigned threads, int runs) {
  Timings timings;
  size_t ops = 0;
  for (int i = 0; i < runs; ++i) ops = RunOnce(path, threads, &timings);
  const double gigabytes = static_cast<double>(InputFile(path).size()) / 1e9;
  const double scan = MedianOf(timings.scan);
  const double read = MedianOf(timings.read);
  const double ledger = MedianOf(timings.ledger);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{}: {:.2f} GB, {} ops, {} threads\n"
      "  scan {:.3f} s ({:.1f} GB/s)  read {:.3f} s = {:.2f} scans  "
      "ledger {:.3f} s = {:.2f} scans  peak {} MB\n",
      path, gigabytes, ops, threads, scan, gigabytes / scan, read, read / scan,
      ledger, ledger / scan, usage.ru_maxrss / 1024);
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_ledger FILE [THREADS [RUNS]]\n");
    return 2;
  }
  inferdiff::Main(argv[1],
                  argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2U,
                  argc > 3 ? std::atoi(argv[3]) : 5);
  return 0;
}
