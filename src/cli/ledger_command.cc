// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/ledger_output.h"
#include "cli/one_trace.h"
#include "cli/passed_over.h"
#include "cli/progress.h"
#include "ledger/amount_checks.h"
#include "ledger/rank_set.h"
#include "load/load_ledgers.h"
#include "load/load_set.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff ledger TP-0.trace.json.gz

Where the time of a trace's steps goes: each nanosecond of a step has one
owner, a category of kernels, somebody else's work or idleness. Of several
files, a folder of them or a pattern in quotes the ranks are put together:
clocks aligned, waiting for other ranks told from communication. A ledger file
(-o FILE.ledger) is read in the place of the traces.

Usage: inferdiff ledger [OPTION]... TRACE...

      --shard K/N      account every Nth file from the Kth on, K from 0, and
                       write a part for `inferdiff merge` to -o FILE.ledger or
                       -o FOLDER/; auto: K/N are SLURM_PROCID/SLURM_NTASKS, as
                       srun sets them (default: all files)
      --untraced US    the step time without the profiler in microseconds, such
                       as 4400.5: says what profiling costs (default: unknown)
      --accepted N     tokens that a sequence gets of a cycle of drafts and
                       verification on average, such as 3.1: the accepted
                       drafts and the bonus token; or those of an arm, such
                       as arms.csv:base (default: unknown)
      --fail-if GATE   exit 1 if this holds, and say with which value; may be
                       repeated: 'step.wall > 5ms', 'step.idle > 10%' (of the
                       step), 'category.norm > 80us', 'coverage.unclassified >
                       2%'. A wrong name lists the right ones. What is not known
                       fails
      --top N          kernels and families to list (default: 10)
)";

struct LedgerArguments {
  OneTraceOptions trace;
  std::string shard;
  std::optional<int64_t> untraced_ns;
  std::optional<Rational> accepted;
  int64_t top = 10;
  std::vector<std::string> fail_if;
};

/// In a folder each part has a name of its own.
void NamePart(const Shard& shard, CommonOptions* common) {
  if (common->outputs.size() != 1 || !common->format.empty() ||
      common->outputs[0] == "-") {
    FailUsage("--shard writes a part of a ledger, to one file",
              "name its folder or the file: -o parts/, -o part.ledger");
  }
  std::string& path = common->outputs[0];
  std::error_code error;
  if (path.ends_with('/')) std::filesystem::create_directories(path, error);
  if (path.ends_with('/') || std::filesystem::is_directory(path, error))
    path = (std::filesystem::path(path) / FileNameOf(shard)).string();
  if (!path.ends_with(".ledger")) {
    FailUsage("--shard writes a part of a ledger, -o '" + Printable(path) +
                  "' is none",
              "end it in .ledger, or name a folder");
  }
}

int Run(LedgerArguments arguments) {
  CommonOptions& common = arguments.trace.common;
  ExpectTraces("ledger", arguments.trace.paths);
  const LedgerOutput output{common, arguments.top,
                            ParseGates(arguments.fail_if, GateScope::kLedger)};
  std::optional<Shard> shard;
  if (!arguments.shard.empty()) {
    shard = ParseShard(arguments.shard);
    if (!output.gates.empty()) {
      FailUsage("--fail-if is about a whole ledger, --shard makes a part",
                "give it to `inferdiff ledger` on the merged ledger file");
    }
    NamePart(*shard, &common);
  }
  Outputs outputs(common, arguments.trace.paths, kLedgerFormats);
  const Rules rules = LoadRules(common);
  Progress progress(1);
  SideLoader loader(
      arguments.trace.paths, rules,
      {common.threads, arguments.trace.device, progress.ForFile(0)});
  outputs.RefuseInputs(loader.inputs());
  SayPassedOver(loader.inputs());
  const bool from_files = loader.inputs().ledgers;
  if (shard && from_files) {
    FailUsage("--shard shares out traces, not ledger files",
              "`inferdiff merge` joins the parts of a ledger");
  }
  if (!outputs.WantsLedger()) {
    LedgerResult ledger = std::move(loader).Account(arguments.trace.group);
    AddDilation(arguments.untraced_ns, &ledger);
    ledger.accepted = arguments.accepted;
    return WriteLedger(outputs, output, ledger);
  }
  if (arguments.untraced_ns || arguments.accepted) {
    FailUsage(fmt::format("a ledger file holds the traces' figures, not {}",
                          arguments.accepted ? "--accepted" : "--untraced"),
              "name it where the ledger file is read");
  }
  const LedgerPart part = std::move(loader).AccountPart(
      arguments.trace.group, shard.value_or(Shard{}));
  return WriteLedger(outputs, output, part, from_files);
}

}  // namespace

Command AddLedger(CLI::App& root) {
  const auto arguments = std::make_shared<LedgerArguments>();
  CLI::App* app =
      AddOneTrace(root, "ledger", kHelp, kLedgerFormatHelp, arguments->trace);
  AddText(*app, "--shard", arguments->shard);
  AddTime(*app, "--untraced", arguments->untraced_ns);
  AddAccepted(*app, "--accepted", arguments->accepted);
  AddGates(*app, arguments->fail_if);
  AddWhole(*app, "--top", 1, 1'000'000, arguments->top);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
