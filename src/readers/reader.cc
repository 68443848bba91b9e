// SPDX-License-Identifier: Apache-2.0
#include "readers/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/input_file.h"
#include "readers/foreign_files.h"
#include "readers/format.h"
#include "readers/repeated_records.h"

namespace inferdiff {
namespace {

constexpr size_t kHead = 64 * 1024;

/// What a file is that no reader takes, and what to do with it.
struct Foreign {
  std::string what;
  std::string fix;
};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

Foreign DescribeForeign(std::string_view head, std::string_view path) {
  const std::string kUseKineto =
      "capture with torch.profiler and name its .trace.json(.gz)";
  if (const auto known = FindForeignFile(head)) {
    return {std::string(known->what), std::string(known->fix)};
  }
  if (EndsWith(path, ".nsys-rep") || EndsWith(path, ".qdrep")) {
    return {"the file is an Nsight Systems report, which only nsys can open",
            fmt::format("nsys export --type sqlite --force-overwrite true "
                        "--lazy false {}, and name the .sqlite file that it "
                        "writes",
                        path)};
  }
  constexpr std::string_view kLittle("{\0", 2);
  constexpr std::string_view kBig("\0{", 2);
  if (StartsWith(head, "\xff\xfe") || StartsWith(head, "\xfe\xff") ||
      StartsWith(head, kLittle) || StartsWith(head, kBig)) {
    return {"the file is UTF-16 text, and a trace is UTF-8",
            "convert it: iconv -f UTF-16 -t UTF-8"};
  }
  if (StartsWith(head, "\xef\xbb\xbf")) {
    return {"the file begins with a byte order mark, which JSON forbids",
            "remove the first three bytes: tail -c +4"};
  }
  const size_t first = head.find_first_not_of(" \n\r\t");
  if (first != head.npos && (head[first] == '{' || head[first] == '[')) {
    return {"the file is JSON, but no trace", kUseKineto};
  }
  return {"the file is no trace of a known format", kUseKineto};
}

/// The first 64 KiB, decoded.
std::string ReadHead(const InputFile& file, Compression compression) {
  std::string head(kHead, '\0');
  const auto source = compression == Compression::kPlain
                          ? OpenPlain(file, 0)
                          : OpenCompressed(file, compression);
  head.resize(source->Read(head.data(), head.size()));
  return head;
}

/// Why a file of which nothing is left has no trace.
InputError NoOperations(const std::string& path,
                        const ImportCounters& counters) {
  const uint64_t lost = counters.Total(Severity::kDataLoss);
  if (lost == 0) {
    return InputError("no-gpu-events", path, "the trace has no GPU activity",
                      "profile with the GPU's activities enabled "
                      "(ProfilerActivity.CUDA, also on ROCm)");
  }
  std::string what = "the trace has no GPU activity that can be read:";
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    const CounterInfo& info = InfoOf(static_cast<Counter>(i));
    const uint64_t count = counters[static_cast<Counter>(i)];
    if (info.severity != Severity::kDataLoss || count == 0) continue;
    what += fmt::format(" {} {},", count, info.id);
  }
  what.pop_back();
  return InputError("no-gpu-events", path, what,
                    "the file is damaged or cut off: copy it again, or capture "
                    "again");
}

/// Launches in a graph capture run nothing, a graph captured as a whole has no
/// kernels, and what is cut off is missing anyway: each has a counter.
void ForgiveLosses(const ImportCounters& counters, Trace* trace) {
  LaunchTally& launches = trace->capture.launches;
  const bool cut = counters[Counter::kTruncatedInput] > 0 ||
                   counters[Counter::kCorruptCompression] > 0 ||
                   counters[Counter::kDamagedTable] > 0;
  if (cut || counters[Counter::kGraphCapture] > 0) launches.kernels_lost = 0;
  if (cut || counters[Counter::kGraphAsWhole] > 0) launches.graphs_lost = 0;
}

}  // namespace

bool IsTrace(const std::string& path) {
  const InputFile file(path);
  const std::string head = ReadHead(file, DetectCompression(file));
  const auto formats = Formats();
  return std::any_of(formats.begin(), formats.end(), [&](const Format& one) {
    return one.sniff({head, path});
  });
}

SourceFile ReadTrace(const std::string& path, const ReadOptions& options) {
  const InputFile file(path);
  const Compression compression = DetectCompression(file);
  const std::string head = ReadHead(file, compression);
  if (head.empty()) {
    throw InputError("empty-file", path,
                     "the file is compressed and unfolds to nothing",
                     "it is empty, cut off or damaged: copy it again");
  }
  const auto formats = Formats();
  const auto format =
      std::find_if(formats.begin(), formats.end(), [&](const Format& one) {
        return one.sniff({head, path});
      });
  if (format == formats.end()) {
    const Foreign foreign = DescribeForeign(head, path);
    throw InputError("unknown-format", path, foreign.what, foreign.fix);
  }
  SourceFile result = format->read(file, compression, options);
  result.path = path;
  if (result.size_bytes == 0) result.size_bytes = file.size();
  for (Trace& trace : result.traces) {
    DropRepeatedRecords(&trace, &result.counters);
    ForgiveLosses(result.counters, &trace);
  }
  if (result.traces.empty()) {
    throw NoOperations(path, result.counters);
  }
  return result;
}

}  // namespace inferdiff
