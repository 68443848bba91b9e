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

using Scan = Scanned<RocprofObjects>;

Scan ScanPlain(const InputFile& file, const ReadOptions& options,
               size_t window) {
  std::shared_ptr<const RocprofObjects::Kinds> kinds;
  if (ThreadCount(options.threads) > 1 && file.size() > window) {
    kinds = KindsInHead(file);
  }
  return WindowScan<RocprofObjects>(
             file, 0, window, options,
             [&] { return std::make_unique<RocprofObjects>(kinds); })
      .Run();
}

Scan ScanCompressed(const InputFile& file, Compression compression,
                    const ReadOptions& options, size_t block,
                    ImportCounters* counters) {
  const auto source = OpenCompressed(file, compression);
  Scan scan = ScanStream(source.get(), 0, block, options,
                         std::make_unique<RocprofObjects>(nullptr));
  if (source->truncated()) counters->Add(Counter::kTruncatedInput);
  if (source->corrupt()) counters->Add(Counter::kCorruptCompression);
  scan.crc32 = source->DiskCrc32();
  return scan;
}

/// The records of all processes, one behind the other.
RocprofInput Join(Scan* scan, RocprofLexicon* lexicon,
                  ImportCounters* counters) {
  RocprofInput input;
  input.text = RocprofText::kJson;
  std::vector<RocprofBatch>& batches = input.files.emplace_back();
  RocprofOrdinals first;
  std::optional<RocprofProcess> process;
  for (RocprofStretch& stretch : scan->batches) {
    for (RocprofPart& part : stretch.parts) {
      if (part.begins && process) {
        process->Finish(&batches, &input.agents);
        process.reset();
      }
      if (!process) process.emplace(lexicon);
      process->Add(std::move(part), first, counters);
    }
    counters->Merge(stretch.counters);
    first.kernels += stretch.passed.kernels;
    first.copies += stretch.passed.copies;
    first.calls += stretch.passed.calls;
    first.ranges += stretch.passed.ranges;
  }
  if (process) process->Finish(&batches, &input.agents);
  for (const RocprofBatch& batch : batches) counters->Merge(batch.counters);
  return input;
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
  ImportCounters& counters = result.counters;
  Scan scan =
      compression == Compression::kPlain
          ? ScanPlain(file, options, tuning.block)
          : ScanCompressed(file, compression, options, tuning.block, &counters);
  result.crc32 = scan.crc32;
  JsonNesting nesting;
  for (const RocprofStretch& stretch : scan.batches) {
    nesting.Join(stretch.nesting);
  }
  const bool cut = counters[Counter::kTruncatedInput] > 0;
  if (!cut && !nesting.whole()) counters.Add(Counter::kTruncatedInput);
  RocprofLexicon lexicon;
  RocprofInput input = Join(&scan, &lexicon, &counters);
  input.truncated = counters[Counter::kTruncatedInput] > 0 ||
                    counters[Counter::kCorruptCompression] > 0;
  AssembleRocprof(std::move(input), &result);
  scan = {};
  ReturnFreeMemory();
  return result;
}

}  // namespace inferdiff
