// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "base/text.h"
#include "cli/command.h"
#include "cli/gates.h"
#include "cli/machine_options.h"
#include "cli/one_trace.h"
#include "cli/passed_over.h"
#include "cli/progress.h"
#include "cli/separator.h"
#include "compare/compare.h"
#include "compare/setup.h"
#include "load/load_set.h"
#include "readers/server_args.h"
#include "report/compare_report.h"
#include "report/html_page.h"
#include "report/perfetto.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHelp =
    R"(Example: inferdiff compare mi300x.trace.json.gz -- b200.trace.json.gz

How far apart the steps of two traces are, what the gap is made of, whether the
comparison is fair, and what to do first. A is named before the --, B behind
it. Each side is one rank's trace, or the traces of a set of ranks: several
files, a folder of them or a pattern in quotes; or their ledger files. A
server_args.json beside a trace tells its set-up, unless both sides lie in one
folder.

The JSON of `ledger` is a side, too; its kernels are not matched. So is a
published table (docs/format-table.md): table.csv:SIDE takes the columns of that
name, such as ledger.csv:mi355x.

Usage: inferdiff compare [OPTION]... A... -- B...

      --untraced-a TIME
                       A's step time without the profiler, such as 4.61ms or
                       4400.5us, or an arm of a table of timed arms, such as
                       arms.csv:base (default: unknown). With B's, the gap is
                       that of these times
      --untraced-b TIME
                       the same of B
      --serial-a A2    A with its side streams off: a trace, a folder or
                       pattern, a ledger file or table.csv:SIDE. Measures what
                       A's overlap is worth (default: only a bound is known)
      --serial-b B2    the same of B
      --untraced-serial-a TIME
                       step time of A2 without the profiler (default: unknown)
      --untraced-serial-b TIME
                       the same of B2
      --floor A=TIME,B=TIME
                       what one more tiny kernel in a graph costs on each side,
                       such as A=0.64us,B=1.63us: splits the work by number and
                       price of operations (default: not split)
)";

constexpr std::string_view kSelectHelp =
    R"(      --fail-if GATE   exit 1 if this holds, and say with which value; may be
                       repeated. 'gap.wall > 5%': B's step takes that much more
                       than A's; 'category.moe.ratio > 1.1': so many times A's;
                       'gap.idle > 20us', 'coverage.unclassified > 2%'. A wrong
                       name lists the right ones. What is not known fails
      --accepted A=N,B=N
                       tokens that a sequence gets of a cycle of drafts and
                       verification on average, such as A=3.1,B=2.9: the
                       accepted drafts and the bonus token; or those of an
                       arm, such as A=arms.csv:base (default: unknown)
      --category NAME  look into one category or group of them, kernel by
                       kernel: moe, attention, communication ... (default: none)
      --role NAME      look into one role: which kernels do its work on each
                       side, and why they are matched: router, attention,
                       expert_gemm_1 ... (default: none)
      --group N        compare this group of equal steps, as `inferdiff steps`
                       numbers them; N,M for A and B (default: the pair of equal
                       shape with most steps)
      --device N       take this device of a file with several; N,M for A and B
                       (default: the one with most busy time)
      --rank N         take this rank: its file of several, or its part of one
                       that was merged; N,M for A and B (default: all)
)";

struct CompareArguments {
  CommonOptions common;
  std::vector<std::string> words;  // paths and the separator
  SideChoice group, device, rank;
  UntracedTimes untraced, untraced_serial;
  std::string serial_a, serial_b;
  FloorTimes floors;
  MachineArguments machine;
  AcceptedTokens accepted;
  std::string category, role;
  std::vector<std::string> fail_if;
};

struct Sides {
  std::vector<std::string> a, b;
};

Sides SplitSides(const std::vector<std::string>& words) {
  const auto separator = std::find(words.begin(), words.end(), kSeparator);
  const std::vector<std::string> a(words.begin(), separator);
  if (separator == words.end()) {
    if (words.size() != 2) {
      FailUsage("two traces are needed, with -- between them",
                "write `inferdiff compare A -- B`");
    }
    FailUsage("there is no -- between A and B",
              fmt::format("write `inferdiff compare {} -- {}`",
                          Printable(words[0]), Printable(words[1])));
  }
  const std::vector<std::string> b(separator + 1, words.end());
  if (a.empty() || b.empty()) {
    FailUsage(fmt::format("no trace is named {} the --",
                          a.empty() ? "before" : "behind"),
              "write `inferdiff compare A -- B`");
  }
  return {a, b};
}

// The first of a side's ranks: a server_args.json lies beside it.
const std::string& FirstOf(const SideLoader& side) {
  return side.inputs().files[0].path;
}

void SayIgnored(const std::string& trace_path) {
  const ServerFacts server = ReadServerArgsBeside(trace_path);
  if (server.facts.empty() && server.problem.empty()) return;
  fmt::print(stderr,
             "inferdiff: server_args.json is not used: both sides lie beside "
             "it, and it does not say whose it is\n");
}

SetupFacts FactsOf(const SideLoader& side) {
  ServerFacts server = side.ServerArgs();
  if (!server.problem.empty())
    WriteMessage(fmt::format("inferdiff: {}\n", Printable(server.problem)));
  return std::move(server.facts);
}

struct LoadedPair {
  std::unique_ptr<SideLoader> a, b;
};

bool IsSmall(const std::vector<std::string>& words) {
  constexpr uintmax_t kSmall = 4 << 20;
  std::error_code error;
  const uintmax_t size = fs::file_size(words[0], error);
  return words.size() == 1 && !error && size <= kSmall;
}

// Small files are read one after the other: a thread costs more than they do.
LoadedPair LoadBoth(const Sides& sides, const CompareArguments& arguments,
                    const Rules& rules, Progress* progress) {
  unsigned threads = arguments.common.threads > 0
                         ? arguments.common.threads
                         : std::max(1U, std::thread::hardware_concurrency());
  const bool parallel = threads > 1 && !IsSmall(sides.a) && !IsSmall(sides.b);
  const unsigned each = parallel ? (threads + 1) / 2 : threads;
  const auto load_a = [&] {
    return std::make_unique<SideLoader>(
        sides.a, rules,
        LoadOptions{each,
                    {arguments.device.a, arguments.rank.a},
                    progress->ForFile(0),
                    true});
  };
  auto future =
      std::async(parallel ? std::launch::async : std::launch::deferred, load_a);
  // A first where both fail: the message is the same for any thread count.
  if (!parallel) future.wait();
  std::exception_ptr failed;
  LoadedPair pair;
  try {
    pair.b = std::make_unique<SideLoader>(
        sides.b, rules,
        LoadOptions{each,
                    {arguments.device.b, arguments.rank.b},
                    progress->ForFile(1),
                    true});
  } catch (...) {
    failed = std::current_exception();
  }
  pair.a = future.get();
  if (failed) std::rethrow_exception(failed);
  return pair;
}

/// The ledger of a side with its side streams off, of the work that is compared
/// of the side itself.
std::optional<LedgerResult> LoadSerial(const std::string& word,
                                       DeviceChoice device, const Steps& side,
                                       int64_t group, unsigned threads,
                                       const Rules& rules,
                                       const Outputs& outputs) {
  if (word.empty()) return std::nullopt;
  SideLoader serial({word}, rules, LoadOptions{threads, device, {}, true});
  outputs.RefuseInputs(serial.inputs());
  SayPassedOver(serial.inputs());
  Steps wanted;
  wanted.groups = side.groups;
  wanted.main_group = side.main_group;
  for (size_t i = 0; i < wanted.groups.size(); ++i)
    if (static_cast<int64_t>(i) != group) wanted.groups[i].used = 0;
  const GroupChoice chosen = ChooseGroups(serial.steps(), wanted);
  return std::move(serial).Account(chosen.a);
}

void ExpectSameWork(std::string_view name, const LedgerResult& side,
                    const std::optional<LedgerResult>& serial) {
  if (!serial) return;
  const std::string differs = OtherWork(side, *serial);
  if (differs.empty()) return;
  FailUsage(fmt::format("the serial ledger of {} is of other work: {}", name,
                        differs),
            "name the same run with its side streams off");
}

CompareResult CompareSides(const Sides& sides,
                           const CompareArguments& arguments,
                           const Rules& rules, const MachineFiles& machine,
                           CompareOptions options, const Outputs& outputs) {
  Progress progress(2);
  LoadedPair pair = LoadBoth(sides, arguments, rules, &progress);
  outputs.RefuseInputs(pair.a->inputs());
  outputs.RefuseInputs(pair.b->inputs());
  SayPassedOver(pair.a->inputs());
  SayPassedOver(pair.b->inputs());
  const GroupChoice chosen = ChooseGroups(pair.a->steps(), pair.b->steps());
  const std::string first_a = FirstOf(*pair.a);
  const bool ambiguous = ShareFolder(*pair.a, *pair.b);
  if (ambiguous) SayIgnored(first_a);
  const SetupFacts facts_a = ambiguous ? SetupFacts() : FactsOf(*pair.a);
  const SetupFacts facts_b = ambiguous ? SetupFacts() : FactsOf(*pair.b);
  const SideChoice& group = arguments.group;
  const int64_t group_a = group.a.value_or(chosen.a);
  const int64_t group_b = group.b.value_or(chosen.b);
  const unsigned threads = arguments.common.threads;
  options.serial_a =
      LoadSerial(arguments.serial_a, {arguments.device.a, arguments.rank.a},
                 pair.a->steps(), group_a, threads, rules, outputs);
  options.serial_b =
      LoadSerial(arguments.serial_b, {arguments.device.b, arguments.rank.b},
                 pair.b->steps(), group_b, threads, rules, outputs);
  LedgerResult a = std::move(*pair.a).Account(group_a);
  LedgerResult b = std::move(*pair.b).Account(group_b);
  ExpectSameDevice(arguments.machine, machine, a, b);
  ExpectSameWork("A", a, options.serial_a);
  ExpectSameWork("B", b, options.serial_b);
  a.accepted = arguments.accepted.a;
  b.accepted = arguments.accepted.b;
  return Compare(std::move(a), facts_a, std::move(b), facts_b,
                 std::move(options));
}

int Run(const CompareArguments& arguments) {
  const CommonOptions& common = arguments.common;
  const Sides sides = SplitSides(arguments.words);
  const std::vector<Gate> gates =
      ParseGates(arguments.fail_if, GateScope::kCompare);
  CompareOptions options;
  options.untraced = arguments.untraced;
  options.untraced_serial = arguments.untraced_serial;
  if ((arguments.untraced_serial.a && arguments.serial_a.empty()) ||
      (arguments.untraced_serial.b && arguments.serial_b.empty()))
    FailUsage("a step time of a serial ledger is of no use without the ledger",
              "add --serial-a or --serial-b");
  const MachineFiles machine = ReadMachineFiles(arguments.machine);
  options.floors = FloorsOf(arguments.floors, machine);
  options.machine_a = machine.a;
  options.machine_b = machine.b;
  if (!arguments.category.empty())
    options.category = CategoryOption(arguments.category);
  if (!arguments.role.empty()) options.role = RoleOption(arguments.role);
  std::vector<std::string> inputs = sides.a;
  inputs.insert(inputs.end(), sides.b.begin(), sides.b.end());
  for (const std::string& path : FilesOf(arguments.machine))
    inputs.push_back(path);
  std::vector<Format> formats = kAllFormats;
  formats.push_back(Format::kHtml);
  formats.push_back(Format::kPerfetto);
  Outputs outputs(common, inputs, formats);
  const Rules rules = LoadRules(common);
  const CompareResult result = CompareSides(sides, arguments, rules, machine,
                                            std::move(options), outputs);
  WriteReport(outputs,
              {[&] { return CompareDocument(result); },
               [&](const TextSink& sink) { WriteCompareJson(result, sink); },
               [&] { return CompareTsvText(result); },
               [&](const TextSink& sink) { WriteComparePage(result, sink); },
               [&](const TextSink& sink) { WritePerfetto(result, sink); }});
  return std::max(
      {GateCode(FailedGates(gates, result)),
       ExitCode(common, result.a.source.counters, result.a.capture_checks),
       ExitCode(common, result.b.source.counters, result.b.capture_checks)});
}

}  // namespace

Command AddCompare(CLI::App& root) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* app = AddSubcommand(
      root, "compare",
      {kHelp, kMachineHelp, kSelectHelp, kCompareFormatHelp, kReadHelp});
  AddPositionals(*app, arguments->words);
  AddTime(*app, "--untraced-a", arguments->untraced.a);
  AddTime(*app, "--untraced-b", arguments->untraced.b);
  AddText(*app, "--serial-a", arguments->serial_a);
  AddText(*app, "--serial-b", arguments->serial_b);
  AddTime(*app, "--untraced-serial-a", arguments->untraced_serial.a);
  AddTime(*app, "--untraced-serial-b", arguments->untraced_serial.b);
  AddFloors(*app, "--floor", arguments->floors);
  AddMachineOptions(*app, arguments->machine);
  AddAccepted(*app, "--accepted", arguments->accepted);
  AddGates(*app, arguments->fail_if);
  AddText(*app, "--category", arguments->category);
  AddText(*app, "--role", arguments->role);
  AddSideChoice(*app, "--group", arguments->group);
  AddSideChoice(*app, "--device", arguments->device);
  AddSideChoice(*app, "--rank", arguments->rank);
  AddFormatOptions(*app, arguments->common);
  AddReadOptions(*app, arguments->common);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
