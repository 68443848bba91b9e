// SPDX-License-Identifier: Apache-2.0
#include "cli/one_trace.h"

#include <fmt/core.h>

#include "cli/progress.h"
#include "load/inputs.h"

namespace inferdiff {

const std::string_view kGroupHelp =
    R"(      --group N        account this group of equal steps, as `inferdiff steps`
                       numbers them (default: the one with most time)
)";

const std::vector<Format> kAllFormats = {Format::kTerminal, Format::kMarkdown,
                                         Format::kJson, Format::kTsv};

CLI::App* AddOneTrace(CLI::App& root, const std::string& name,
                      std::string_view help, std::string_view format_help,
                      OneTraceOptions& options) {
  CLI::App* app = AddSubcommand(
      root, name, {help, kGroupHelp, kDeviceHelp, format_help, kReadHelp});
  AddPositionals(*app, options.paths);
  AddIndex(*app, "--group", options.group);
  AddDeviceOptions(*app, options.device);
  AddFormatOptions(*app, options.common);
  AddReadOptions(*app, options.common);
  return app;
}

std::string OneFile(const std::string& command,
                    const std::vector<std::string>& words,
                    const Outputs& outputs, DeviceChoice* device) {
  InputSet set = ExpandInputs(words);
  outputs.RefuseInputs(set);
  const bool have_ranks = set.files[0].rank.has_value();
  KeepRank(&set, &device->rank);
  if (set.files.size() == 1) return set.files[0].path;
  FailUsage(fmt::format("{} traces are named; `inferdiff {}` takes one: {}",
                        set.files.size(), command, NamesOf(set.files)),
            fmt::format("name one rank's file{}; for two sides: `inferdiff "
                        "compare A -- B`",
                        have_ranks ? ", or choose with --rank N" : ""));
}

LoadedTrace LoadOne(const OneTraceOptions& options, const Rules& rules) {
  Progress progress(1);
  return LoadTrace(
      options.paths[0], rules,
      {options.common.threads, options.device, progress.ForFile(0)});
}

LedgerResult AccountOne(const OneTraceOptions& options, const Rules& rules) {
  return AccountTrace(LoadOne(options, rules), rules.get(), options.group);
}

void WriteReport(Outputs& outputs, const ReportForms& forms) {
  outputs.Write(
      [&](Format format, const TerminalStyle& style, const TextSink& sink) {
        switch (format) {
          case Format::kTerminal:
            return sink(TerminalText(forms.document(), style));
          case Format::kMarkdown:
            return sink(MarkdownDocument(forms.document()));
          case Format::kJson:
            return forms.json(sink);
          case Format::kTsv:
            return sink(forms.tsv());
          case Format::kHtml:
            return forms.html(sink);
          case Format::kPerfetto:
            return forms.perfetto(sink);
          case Format::kLedger:
            return forms.ledger(sink);
          case Format::kTrace:
            break;  // no report
        }
      });
}

int ExitCode(const CommonOptions& options, const ImportCounters& counters,
             const std::vector<CaptureCheck>& checks) {
  return options.strict && (LostData(counters) || HasGraveCheck(checks)) ? 1
                                                                         : 0;
}

}  // namespace inferdiff
