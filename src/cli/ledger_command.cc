// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/command.h"
#include "cli/one_trace.h"
#include "report/ledger_json.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff ledger TP-0.trace.json.gz

Where the time of a trace's steps goes: each nanosecond of a step has one
owner, a category of kernels, somebody else's work or idleness. Of several
files, a folder of them or a pattern in quotes the ranks are put together:
clocks aligned, waiting for other ranks told from communication.

Usage: inferdiff ledger [OPTION]... TRACE...

      --top N          kernels and families to list (default: 10)
)";

struct LedgerArguments {
  OneTraceOptions trace;
  int64_t top = 10;
};

int Run(const LedgerArguments& arguments) {
  const CommonOptions& common = arguments.trace.common;
  ExpectTraces("ledger", arguments.trace.paths);
  Outputs outputs(common, arguments.trace.paths, kAllFormats);
  const RuleSet rules = LoadRules(common.rules_path);
  const LedgerResult ledger = AccountSide(arguments.trace, rules);
  const auto top = static_cast<size_t>(arguments.top);
  WriteReport(outputs,
              {[&] { return LedgerDocument(ledger, top); },
               [&](const TextSink& sink) { WriteLedgerJson(ledger, sink); },
               [&] { return LedgerTsv(ledger); }});
  return ExitCode(common, ledger.source.counters, ledger.capture_checks);
}

}  // namespace

Command AddLedger(CLI::App& root) {
  const auto arguments = std::make_shared<LedgerArguments>();
  CLI::App* app = AddOneTrace(root, "ledger", kHelp, arguments->trace);
  AddWhole(*app, "--top", 1, 1'000'000, arguments->top);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
