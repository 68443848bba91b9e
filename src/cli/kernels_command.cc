// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/command.h"
#include "cli/one_trace.h"
#include "report/kernels_report.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff kernels TP-0.trace.json.gz --category attention

The kernels of a trace's steps: category, attributed time, calls and how long
they take; then the rules that gave the categories.

Usage: inferdiff kernels [OPTION]... TRACE

      --category NAME  kernels of one category or group of them: moe, attention,
                       copies, unclassified ... (default: all)
      --top N          list the N with most time (default: all)
)";

struct KernelsArguments {
  OneTraceOptions trace;
  std::string category;
  int64_t top = 1'000'000;
};

int Run(KernelsArguments arguments) {
  OneTraceOptions& trace = arguments.trace;
  const CommonOptions& common = trace.common;
  ExpectTraces("kernels", trace.paths);
  KernelsChoice choice;
  choice.top = static_cast<size_t>(arguments.top);
  if (!arguments.category.empty())
    choice.categories = CategoryOption(arguments.category).members;
  Outputs outputs(common, trace.paths, kAllFormats);
  trace.paths = {OneFile("kernels", trace.paths, outputs, &trace.device)};
  const Rules rules = LoadRules(common);
  const LedgerResult ledger = AccountOne(trace, rules);
  WriteReport(outputs, {[&] { return KernelsDocument(ledger, choice); },
                        [&](const TextSink& sink) {
                          WriteKernelsJson(ledger, choice, sink);
                        },
                        [&] { return KernelsTsv(ledger, choice); }});
  return ExitCode(common, ledger.source.counters, ledger.capture_checks);
}

}  // namespace

Command AddKernels(CLI::App& root) {
  const auto arguments = std::make_shared<KernelsArguments>();
  CLI::App* app =
      AddOneTrace(root, "kernels", kHelp, kFormatHelp, arguments->trace);
  AddText(*app, "--category", arguments->category);
  AddWhole(*app, "--top", 1, 1'000'000, arguments->top);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
