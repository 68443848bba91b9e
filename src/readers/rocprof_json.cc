// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_json.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/parallel.h"
#include "readers/rocprof_assemble.h"
#include "readers/rocprof_objects.h"
#include "readers/rocprof_process.h"
#include "readers/window_scan.h"

namespace inferdiff {
namespace {

/// The kinds that the head of the file names, before others start to guess.
std::shared_ptr<const RocprofObjects::Kinds> KindsInHead(
    const InputFile& file) {
  constexpr size_t kFirst = size_t{64} << 10;
  constexpr size_t kMost = size_t{4} << 20;
  RocprofObjects objects(nullptr);
  RocprofObjects::State state;
  RocprofStretch stretch;
  std::vector<char> head;
  size_t got = 0;
  size_t at = 0;
  for (size_t size = kFirst; size <= kMost; size *= 4) {
    head.resize(size + kTextPadding);
    got += file.ReadAt(got, head.data() + got, size - got);
    at = objects.Walk({head.data(), got}, at, got, false, &state, &stretch).at;
    const bool over = state.kinds && state.array != RocprofArray::kKinds;
    if (over || got < size) break;
  }
  return state.kinds;
}

/// Puts the processes of a file together, one behind the other.
class ProcessReader {
 public:
  explicit ProcessReader(SourceFile* file)
      : counters_(&file->counters), assembler_(RocprofText::kJson, file) {}

  /// Stretches in the order of the file.
  void Take(const RocprofStretch& stretch, double share);
  void Finish();

 private:
  void FinishProcess();

  ImportCounters* counters_;
  RocprofAssembler assembler_;
  RocprofFacts facts_;
  std::optional<RocprofProcess> process_;
  RocprofOrdinals first_;
  JsonNesting nesting_;
};

void ProcessReader::FinishProcess() {
  if (process_) process_->Finish(&facts_.agents, counters_);
  process_.reset();
}

void ProcessReader::Take(const RocprofStretch& stretch, double share) {
  for (const RocprofPart& part : stretch.parts) {
    if (part.begins) FinishProcess();
    if (!process_) process_.emplace(&assembler_);
    process_->Add(part, {first_, share}, counters_);
  }
  counters_->Merge(stretch.counters);
  nesting_.Join(stretch.nesting);
  first_.kernels += stretch.passed.kernels;
  first_.copies += stretch.passed.copies;
  first_.calls += stretch.passed.calls;
  first_.ranges += stretch.passed.ranges;
}

void ProcessReader::Finish() {
  FinishProcess();
  const ImportCounters& counters = *counters_;
  const bool cut = counters[Counter::kTruncatedInput] > 0;
  if (!cut && !nesting_.whole()) counters_->Add(Counter::kTruncatedInput);
  facts_.truncated = counters[Counter::kTruncatedInput] > 0 ||
                     counters[Counter::kCorruptCompression] > 0;
  assembler_.Finish(facts_);
}

using Scan = Scanned<RocprofObjects>;
using Take = WindowScan<RocprofObjects>::Take;

Scan ScanPlain(const InputFile& file, const ReadOptions& options, size_t window,
               const Take& take) {
  std::shared_ptr<const RocprofObjects::Kinds> kinds;
  if (ThreadCount(options.threads) > 1 && file.size() > window) {
    kinds = KindsInHead(file);
  }
  return WindowScan<RocprofObjects>(
             file, 0, window, options,
             [&] { return std::make_unique<RocprofObjects>(kinds); }, take)
      .Run();
}

Scan ScanCompressed(const InputFile& file, Compression compression,
                    const ReadOptions& options, size_t block, const Take& take,
                    ImportCounters* counters) {
  const auto source = OpenCompressed(file, compression);
  Scan scan = ScanStream(source.get(), 0, block, options,
                         std::make_unique<RocprofObjects>(nullptr), take);
  if (source->truncated()) counters->Add(Counter::kTruncatedInput);
  if (source->corrupt()) counters->Add(Counter::kCorruptCompression);
  scan.crc32 = source->DiskCrc32();
  return scan;
}

}  // namespace

bool SniffRocprofJson(std::string_view head) {
  const size_t brace = head.find_first_not_of(" \n\r\t");
  if (brace == head.npos || head[brace] != '{') return false;
  const size_t key = head.find_first_not_of(" \n\r\t", brace + 1);
  constexpr std::string_view kRoot = "\"rocprofiler-sdk-tool\"";
  return key != head.npos && head.substr(key, kRoot.size()) == kRoot;
}

SourceFile ReadRocprofJson(const InputFile& file, Compression compression,
                           const ReadOptions& options,
                           const RocprofJsonTuning& tuning) {
  SourceFile result;
  result.format = "rocprofv3 JSON";
  ProcessReader reader(&result);
  const auto take = [&](const RocprofStretch* stretch, double share) {
    reader.Take(*stretch, share);
  };
  const Scan scan = compression == Compression::kPlain
                        ? ScanPlain(file, options, tuning.block, take)
                        : ScanCompressed(file, compression, options,
                                         tuning.block, take, &result.counters);
  result.crc32 = scan.crc32;
  reader.Finish();
  ReturnFreeMemory();
  return result;
}

}  // namespace inferdiff
