// SPDX-License-Identifier: Apache-2.0
// How long a trace takes, in units of a structural scan of the same file.
//
//   bench_ledger FILE [THREADS [RUNS [BAR]]]
//
// The reference reads the file through reused 1 MiB windows, cut anywhere,
// and runs simdjson's stage 1 on each: every quote, bracket, comma and colon
// found, UTF-8 checked, nothing understood. Of a .csv
// it is a search for line breaks, memchr over the same windows. Runs alternate,
// so that a slow moment of the machine hits both. Prints medians: of the scan,
// of reading, and of reading, classifying, finding steps and accounting; beside
// one of them the number of scans that it may take, of a .csv beside reading;
// then the peak memory of the first run beside what may be resident: 64 MB, 96
// bytes a GPU op, 32 a linked host call, and the distinct names.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
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

size_t CountLines(const char* text, size_t size) {
  size_t lines = 0;
  const char* const end = text + size;
  for (const char* p = text; p != end; ++lines) {
    const void* const found =
        std::memchr(p, '\n', static_cast<size_t>(end - p));
    if (found == nullptr) break;
    p = static_cast<const char*>(found) + 1;
  }
  return lines;
}

/// So that counting is not optimised away.
std::atomic<size_t> lines_found{0};

void ScanShare(const InputFile& file, std::atomic<uint64_t>* next) {
  const bool lines = file.path().ends_with(".csv");
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
    if (lines) {
      lines_found += CountLines(window.data(), got);
      continue;
    }
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

/// What is in the file, as far as it may cost memory.
struct Content {
  size_t ops = 0, linked_calls = 0, name_bytes = 0;

  size_t MayTake() const {
    return (size_t{64} << 20) + 96 * ops + 32 * linked_calls + name_bytes;
  }
};

Content ContentOf(const SourceFile& file) {
  Content content;
  for (const Trace& trace : file.traces) {
    content.ops += trace.ops.size();
    content.linked_calls += trace.calls.size();
  }
  const StringPool& names = *file.traces.front().names;
  for (NameId id = 0; id < names.size(); ++id) {
    content.name_bytes += names[id].size();
  }
  return content;
}

/// Reads, classifies, finds steps and accounts.
Content RunOnce(const std::string& path, unsigned threads, Timings* timings) {
  timings->scan.push_back(SecondsOf([&] { ScanFile(path, threads); }));
  ReadOptions options;
  options.threads = threads;
  LedgerOptions accounting;
  accounting.threads = threads;
  SourceFile file;
  std::future<RuleSet> pending;
  const double read = SecondsOf([&] {
    // As the program has it: beside reading, where there are threads.
    pending =
        std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                   [] { return RuleSet::Load(); });
    file = ReadTrace(path, options);
  });
  const double rest = SecondsOf([&] {
    const std::shared_future<RuleSet> rules = pending.share();
    for (const Trace& trace : file.traces) {
      ClassifiedSteps found = ClassifyAndFindSteps(
          trace, [&]() -> const RuleSet& { return rules.get(); }, threads);
      const LedgerResult ledger =
          BuildLedger(trace, found.classes, rules.get(), std::move(found.steps),
                      accounting);
    }
  });
  timings->read.push_back(read);
  timings->ledger.push_back(read + rest);
  return ContentOf(file);
}

void Main(const std::string& path, unsigned threads, int runs,
          const std::string& bar) {
  Timings timings;
  Content content;
  rusage usage{};
  for (int i = 0; i < runs; ++i) {
    content = RunOnce(path, threads, &timings);
    // Later runs find the memory as the first one left it, in pieces.
    if (i == 0) getrusage(RUSAGE_SELF, &usage);
  }
  const double gigabytes = static_cast<double>(InputFile(path).size()) / 1e9;
  const double scan = MedianOf(timings.scan);
  const double read = MedianOf(timings.read);
  const double ledger = MedianOf(timings.ledger);
  const std::string most = bar.empty() ? "" : " of " + bar;
  const bool reads = path.ends_with(".csv");
  fmt::print(
      "{}: {:.2f} GB, {} ops, {} linked calls, {} threads\n"
      "  scan {:.3f} s ({:.1f} GB/s)  read {:.3f} s = {:.2f} scans{}  "
      "ledger {:.3f} s = {:.2f} scans{}  peak {} MB of {} MB\n",
      path, gigabytes, content.ops, content.linked_calls, threads, scan,
      gigabytes / scan, read, read / scan, reads ? most : "", ledger,
      ledger / scan, reads ? "" : most, usage.ru_maxrss / 1024,
      content.MayTake() >> 20);
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_ledger FILE [THREADS [RUNS [BAR]]]\n");
    return 2;
  }
  inferdiff::Main(argv[1],
                  argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2U,
                  argc > 3 ? std::atoi(argv[3]) : 5, argc > 4 ? argv[4] : "");
  return 0;
}
