// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_csv.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32.h"
#include "base/error.h"
#include "base/memory.h"
#include "readers/rocprof_assemble.h"
#include "readers/rocprof_rows.h"
#include "readers/rocprof_run.h"
#include "readers/window_scan.h"

namespace inferdiff {
namespace {

constexpr size_t kHead = 64 * 1024;

/// The pid that the name of the run's files begins with, if it does.
std::string ProcessInName(const std::string& prefix) {
  std::string name = std::filesystem::path(prefix).filename().string();
  if (!name.empty()) name.pop_back();
  const bool number = name.find_first_not_of("0123456789") == name.npos;
  return number ? name : "";
}

/// Reads the tables of a run, one after the other.
class RunReader {
 public:
  RunReader(const ReadOptions& options, const RocprofCsvTuning& tuning)
      : options_(options),
        tuning_(tuning),
        assembler_(RocprofText::kCsv, &result_) {}

  void Read(const std::string& path);
  void Read(const InputFile& file, Compression compression);
  SourceFile Finish(std::string process, const std::string& path);

 private:
  using Scan = Scanned<RocprofRows>;
  using Take = WindowScan<RocprofRows>::Take;

  Scan ScanPlain(const InputFile& file, const CsvHeader& header,
                 const RocprofColumns& columns, const Take& take) const;
  Scan ScanCompressed(const InputFile& file, Compression compression,
                      const CsvHeader& header, const RocprofColumns& columns,
                      const Take& take);
  std::unique_ptr<RocprofRows> NewRows(const RocprofColumns& columns) const {
    return std::make_unique<RocprofRows>(columns, by_process_);
  }

  const ReadOptions& options_;
  const RocprofCsvTuning& tuning_;
  /// Whether the kernels' table, which is read first, names processes.
  bool by_process_ = false;
  RocprofFacts facts_;
  SourceFile result_;
  RocprofAssembler assembler_;
  std::vector<std::unique_ptr<RocprofRows>> walkers_;  // by which it numbers
};

RunReader::Scan RunReader::ScanPlain(const InputFile& file,
                                     const CsvHeader& header,
                                     const RocprofColumns& columns,
                                     const Take& take) const {
  ReadOptions options = options_;
  // Agents are kept in the order of the file.
  if (columns.kind == RocprofRowKind::kAgents) options.threads = 1;
  return WindowScan<RocprofRows>(
             file, header.end(), tuning_.window, options,
             [&] { return NewRows(columns); }, take)
      .Run();
}

RunReader::Scan RunReader::ScanCompressed(const InputFile& file,
                                          Compression compression,
                                          const CsvHeader& header,
                                          const RocprofColumns& columns,
                                          const Take& take) {
  const auto source = OpenCompressed(file, compression);
  Scan scan =
      ScanStream(source.get(), header.end(), std::max(tuning_.window, kHead),
                 options_, NewRows(columns), take);
  ImportCounters& counters = result_.counters;
  if (source->truncated()) counters.Add(Counter::kTruncatedInput);
  if (source->corrupt()) counters.Add(Counter::kCorruptCompression);
  scan.crc32 = source->DiskCrc32();
  return scan;
}

void RunReader::Read(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 && !error) {
    result_.counters.Add(Counter::kTruncatedInput);
    return;
  }
  const InputFile file(path);
  Read(file, DetectCompression(file));
}

void RunReader::Read(const InputFile& file, Compression compression) {
  const bool plain = compression == Compression::kPlain;
  std::string head(kHead, '\0');
  const auto source =
      plain ? OpenPlain(file, 0) : OpenCompressed(file, compression);
  head.resize(source->Read(head.data(), head.size()));
  const CsvHeader header(head);
  const RocprofColumns columns = ColumnsOf(header, file.path());
  if (columns.kind == RocprofRowKind::kKernels) {
    by_process_ = columns.process != kNoColumn;
  }
  // Lines count from 1, those of the header included.
  uint64_t line = header.lines() + 1;
  const auto take = [&](const RocprofBatch* batch, double share) {
    if (facts_.process.empty()) facts_.process = batch->process;
    result_.counters.Merge(batch->counters);
    if (batch->lexicon != nullptr) assembler_.Take(*batch, line, share);
    line += batch->ordinals;
  };
  Scan scan = plain ? ScanPlain(file, header, columns, take)
                    : ScanCompressed(file, compression, header, columns, take);
  for (auto& walker : scan.walkers) {
    for (RocprofAgent& agent : walker->TakeAgents()) {
      facts_.agents.push_back(std::move(agent));
    }
    walkers_.push_back(std::move(walker));
  }
  result_.crc32 = CombineCrc32(result_.crc32, scan.crc32, file.size());
  result_.size_bytes += file.size();
}

SourceFile RunReader::Finish(std::string process, const std::string& path) {
  result_.format = "rocprof CSV";
  if (!process.empty()) facts_.process = std::move(process);
  if (assembler_.ops() == 0 &&
      result_.counters.Total(Severity::kDataLoss) == 0) {
    throw InputError(
        "no-gpu-events", path,
        "neither this table nor those beside it hold operations "
        "of the GPU",
        "capture with rocprofv3 --kernel-trace --memory-copy-trace "
        "--hip-trace --output-format csv");
  }
  const ImportCounters& counters = result_.counters;
  facts_.truncated = counters[Counter::kTruncatedInput] > 0 ||
                     counters[Counter::kCorruptCompression] > 0;
  assembler_.Finish(facts_);
  ReturnFreeMemory();
  return std::move(result_);
}

}  // namespace

bool SniffRocprofCsv(std::string_view head) {
  const RocprofRowKind kind = RowKindOf(CsvHeader(head));
  return kind != RocprofRowKind::kUnknown &&
         kind != RocprofRowKind::kCounters && kind != RocprofRowKind::kSummary;
}

SourceFile ReadRocprofCsv(const InputFile& file, Compression compression,
                          const ReadOptions& options,
                          const RocprofCsvTuning& tuning) {
  RunReader reader(options, tuning);
  RocprofRun run;
  if (tuning.whole_run) run = FindRocprofRun(file.path());
  if (run.prefix.empty()) {
    reader.Read(file, compression);
    return reader.Finish("", file.path());
  }
  for (const std::string& path : run.paths) {
    if (path == file.path()) {
      reader.Read(file, compression);
    } else if (!path.empty()) {
      reader.Read(path);
    }
  }
  return reader.Finish(ProcessInName(run.prefix), file.path());
}

}  // namespace inferdiff
