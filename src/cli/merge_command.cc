// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/ledger_output.h"
#include "cli/options.h"
#include "load/load_ledgers.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff merge parts/ -o whole.ledger

Joins the ledgers of a set's parts into what one process would have made of all
its traces, byte for byte. The parts are files that `inferdiff ledger --shard`
wrote, or a folder of them; all are needed, in any order.

Usage: inferdiff merge [OPTION]... LEDGER...

      --top N          kernels and families to list (default: 10)
      --strict         exit 1 if records of the input were lost, or the capture is
                       doubtful (default: off)
)";

constexpr std::string_view kHelpHelp = "  -h, --help           this text\n";

struct MergeArguments {
  CommonOptions common;
  std::vector<std::string> words;
  int64_t top = 10;
};

int Run(const MergeArguments& arguments) {
  const CommonOptions& common = arguments.common;
  if (arguments.words.empty()) {
    FailUsage("no ledger file is named",
              "write `inferdiff merge PART... -o whole.ledger`");
  }
  Outputs outputs(common, arguments.words, kLedgerFormats);
  const InputSet inputs = ExpandInputs(arguments.words);
  if (!inputs.ledgers) {
    FailUsage("traces are named where ledger files are merged",
              "`inferdiff ledger TRACE...` takes traces");
  }
  outputs.RefuseInputs(inputs);
  return WriteLedger(outputs, {common, arguments.top}, ReadLedgers(inputs),
                     true);
}

}  // namespace

Command AddMerge(CLI::App& root) {
  const auto arguments = std::make_shared<MergeArguments>();
  CLI::App* app =
      AddSubcommand(root, "merge", {kHelp, kLedgerFormatHelp, kHelpHelp});
  AddPositionals(*app, arguments->words);
  AddWhole(*app, "--top", 1, 1'000'000, arguments->top);
  AddFlag(*app, "--strict", arguments->common.strict);
  AddFormatOptions(*app, arguments->common);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
