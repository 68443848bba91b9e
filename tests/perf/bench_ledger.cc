// SPDX-License-Identifier: Apache-2.0
// How long a trace takes, in units of a structural scan of the same file.
//
//   bench_ledger FILE [THREADS [RUNS]]
//
// The reference reads the file through reused 1 MiB windows, cut anywhere,
// and runs simdjson's stage 1 on each: every quote, bracket, comma and colon
// found, UTF-8 checked, nothing understood. Runs alternate, so that a slow
// moment of the machine hits both. Prints medians and their ratio.
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
#include "readers/reader.h"
#include "simdjson.h"

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

void Main(const std::string& path, unsigned threads, int runs) {
  std::vector<double> scan;
  std::vector<double> read;
  size_t ops = 0;
  for (int i = 0; i < runs; ++i) {
    scan.push_back(SecondsOf([&] { ScanFile(path, threads); }));
    read.push_back(SecondsOf([&] {
      ReadOptions options;
      options.threads = threads;
      ops = 0;
      for (const Trace& trace : ReadTrace(path, options).traces) {
        ops += trace.ops.size();
      }
    }));
  }
  const double gigabytes = static_cast<double>(InputFile(path).size()) / 1e9;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{}: {:.2f} GB, {} ops, {} threads\n"
      "  scan {:.4f} s ({:.1f} GB/s)  read {:.4f} s ({:.1f} GB/s)  ratio "
      "{:.2f}  peak {} MB\n",
      path, gigabytes, ops, threads, MedianOf(scan), gigabytes / MedianOf(scan),
      MedianOf(read), gigabytes / MedianOf(read),
      MedianOf(read) / MedianOf(scan), usage.ru_maxrss / 1024);
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
