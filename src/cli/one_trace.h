// SPDX-License-Identifier: Apache-2.0
// What the subcommands on one trace have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "cli/output.h"
#include "load/load.h"
#include "report/document.h"

namespace CLI {
class App;
}

namespace inferdiff {

struct OneTraceOptions {
  CommonOptions common;
  std::vector<std::string> paths;  // as named; one for those below
  std::optional<int64_t> group;
  DeviceChoice device;
};

extern const std::string_view kGroupHelp;  // of --group

/// `name` with the trace, --group and the options of options.h; `help` is the
/// command's own part of --help, `format_help` that of AddFormatOptions.
CLI::App* AddOneTrace(CLI::App& root, const std::string& name,
                      std::string_view help, std::string_view format_help,
                      OneTraceOptions& options);

/// The one trace file that the words stand for; of a rank set the file of
/// --rank, which then need not name the rank itself. No output may replace what
/// they stand for. Throws what ExpandInputs throws, and InputError "usage" with
/// the files to choose from, "no-rank".
std::string OneFile(const std::string& command,
                    const std::vector<std::string>& words,
                    const Outputs& outputs, DeviceChoice* device);

LoadedTrace LoadOne(const OneTraceOptions& options, const Rules& rules);
LedgerResult AccountOne(const OneTraceOptions& options, const Rules& rules);

/// A report in each of its forms, made when asked for.
struct ReportForms {
  std::function<Document()> document;
  std::function<void(const TextSink&)> json;
  std::function<std::string()> tsv;
  // Where they are allowed.
  std::function<void(const TextSink&)> html = {};
  std::function<void(const TextSink&)> perfetto = {};
  std::function<void(const TextSink&)> ledger = {};
};
/// The formats that every report has, terminal first.
extern const std::vector<Format> kAllFormats;
void WriteReport(Outputs& outputs, const ReportForms& forms);

/// 1 where --strict was given and records were lost, or a check of the capture
/// is more than a note; else 0.
int ExitCode(const CommonOptions& options, const ImportCounters& counters,
             const std::vector<CaptureCheck>& checks = {});

}  // namespace inferdiff
