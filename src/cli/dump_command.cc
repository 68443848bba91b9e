// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <unordered_map>

#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/one_trace.h"
#include "cli/progress.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff dump TP-0.trace.json.gz | head

The trace as inferdiff understood it, as TSV: a line an operation of the GPU,
with its class, its step and what the accounting gave it. For scripts and for
checking any figure. docs/cli.md describes the columns.

Usage: inferdiff dump [OPTION]... TRACE

      --host           dump the host's calls and annotations instead
                       (default: the GPU's operations)
  -o, --output FILE    write FILE, which ends in .tsv (default: stdout)
)";

struct DumpArguments {
  CommonOptions common;
  std::vector<std::string> paths;
  DeviceChoice device;
  bool host = false;
};

// kNone as "-1": a column of numbers stays one.
int64_t IndexOrNone(uint32_t index) {
  return index == kNone ? -1 : static_cast<int64_t>(index);
}

// Per op the head in which it waits for other ranks, as the ledger has it.
std::vector<int64_t> WaitsOfOps(const LoadedTrace& loaded,
                                const RuleSet& rules) {
  LedgerOptions options;
  options.threads = loaded.threads;
  const LedgerResult ledger =
      BuildLedger(loaded.trace(), loaded.classes, rules, loaded.steps, options);
  std::unordered_map<uint64_t, int64_t> wait_of;
  if (ledger.wait_basis == WaitBasis::kUnknown)
    for (const RankWait& wait : WaitsOfOneRank(ledger))
      wait_of[ledger.collectives.calls[wait.call].ordinal] = wait.wait_ns;
  const std::vector<uint64_t>& ordinals = loaded.trace().ops.ordinal;
  std::vector<int64_t> waits(ordinals.size());
  if (wait_of.empty()) return waits;
  for (size_t op = 0; op < waits.size(); ++op)
    if (const auto found = wait_of.find(ordinals[op]); found != wait_of.end())
      waits[op] = found->second;
  return waits;
}

void DumpOps(const LoadedTrace& loaded, const RuleSet& rules,
             TextPieces& lines) {
  constexpr std::string_view kKinds[] = {"kernel", "memcpy", "memset"};
  const Trace& trace = loaded.trace();
  const GpuOps& ops = trace.ops;
  const Steps& steps = loaded.steps;
  const OpAmounts amounts = AmountsPerOp(trace, steps);
  const std::vector<int64_t> waits = WaitsOfOps(loaded, rules);
  lines.Append(
      "ordinal\tstart_ns\tdur_ns\tlane\tkind\tcategory\trule\tstep\t"
      "replay\tnormal_lane\tattributed_ns\thidden_same_lane_ns\t"
      "hidden_cross_lane_ns\tcorrelation\trank_wait_ns\tfamily\tname\n");
  for (size_t i = 0; i < ops.size(); ++i) {
    lines.Add(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t"
        "{}\n",
        ops.ordinal[i], ops.start_ns[i], ops.dur_ns[i],
        trace.lanes[ops.lane[i]].id, kKinds[static_cast<size_t>(ops.kind[i])],
        IdOf(loaded.classes.of_op[i]),
        rules.rules()[loaded.classes.rule_of_op[i]].id,
        IndexOrNone(steps.step_of_op[i]), IndexOrNone(steps.replay_of_op[i]),
        steps.normal_lane[i], amounts.attributed_ns[i],
        amounts.hidden_same_lane_ns[i], amounts.hidden_cross_lane_ns[i],
        ops.correlation[i], waits[i],
        TsvField(loaded.classes.names[ops.name[i]].family),
        TsvField((*trace.names)[ops.name[i]]));
  }
}

void DumpHost(const Trace& trace, TextPieces& lines) {
  constexpr std::string_view kKinds[] = {"launch", "graph_launch", "memcpy",
                                         "memset", "sync",         "alloc"};
  const HostCalls& calls = trace.calls;
  lines.Append("start_ns\tdur_ns\tthread\tkind\tcorrelation\tname\n");
  for (size_t i = 0; i < calls.size(); ++i) {
    lines.Add("{}\t{}\t{}\t{}\t{}\t{}\n", calls.start_ns[i], calls.dur_ns[i],
              TsvField(trace.threads[calls.thread[i]].thread),
              kKinds[static_cast<size_t>(calls.kind[i])], calls.correlation[i],
              TsvField((*trace.names)[calls.name[i]]));
  }
  for (const Annotation& range : trace.annotations) {
    lines.Add("{}\t{}\t{}\t{}\t0\t{}\n", range.start_ns, range.dur_ns,
              TsvField(range.on_gpu ? trace.lanes[range.where].label
                                    : trace.threads[range.where].thread),
              range.on_gpu ? "gpu_annotation" : "annotation",
              TsvField((*trace.names)[range.name]));
  }
}

int Run(const DumpArguments& arguments) {
  ExpectTraces("dump", arguments.paths);
  Outputs outputs(arguments.common, arguments.paths, {Format::kTsv});
  DeviceChoice device = arguments.device;
  const std::string path = OneFile("dump", arguments.paths, outputs, &device);
  const Rules rules = LoadRules(arguments.common);
  const LoadedTrace loaded = [&] {
    Progress progress(1);
    return LoadTrace(path, rules,
                     {arguments.common.threads, device, progress.ForFile(0)});
  }();
  outputs.Write([&](Format, const TerminalStyle&, const TextSink& sink) {
    TextPieces lines(sink);
    lines.Append(TsvProvenance(ProvenanceOf(loaded, rules.get())));
    lines.Add("# device {}, times from {} ns\n", loaded.trace().info.device,
              loaded.trace().info.base_time_ns);
    if (arguments.host) {
      DumpHost(loaded.trace(), lines);
    } else {
      DumpOps(loaded, rules.get(), lines);
    }
  });
  return ExitCode(arguments.common, loaded.source.counters);
}

}  // namespace

Command AddDump(CLI::App& root) {
  const auto arguments = std::make_shared<DumpArguments>();
  CLI::App* app = AddSubcommand(root, "dump", {kHelp, kDeviceHelp, kReadHelp});
  AddPositionals(*app, arguments->paths);
  AddFlag(*app, "--host", arguments->host);
  AddDeviceOptions(*app, arguments->device);
  AddReadOptions(*app, arguments->common);
  AddOutputs(*app, arguments->common.outputs);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
