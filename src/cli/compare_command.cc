// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "base/text.h"
#include "cli/command.h"
#include "cli/one_trace.h"
#include "cli/progress.h"
#include "cli/separator.h"
#include "compare/compare.h"
#include "readers/server_args.h"
#include "report/compare_report.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHelp =
    R"(Example: inferdiff compare mi300x.trace.json.gz -- b200.trace.json.gz

How far apart the steps of two traces are, what the gap is made of, whether the
comparison is fair, and what to do first. A is named before the --, B behind
it. A server_args.json beside a trace tells its set-up, unless both traces lie
in one folder.

Usage: inferdiff compare [OPTION]... A -- B

      --untraced-a US  A's step time without the profiler in microseconds, such
                       as 4400.5: says what profiling costs (default: unknown)
      --untraced-b US  the same of B
      --category NAME  look into one category or group of them, kernel by
                       kernel: moe, attention, communication ... (default: none)
      --group N        compare this group of equal steps, as `inferdiff steps`
                       numbers them; N,M for A and B (default: the pair of equal
                       shape with most steps)
      --device N       take this device of a file with several; N,M for A and B
                       (default: the one with most busy time)
      --rank N         take this rank of a file that was merged from several;
                       N,M for A and B (default: the one with most busy time)
)";

struct CompareArguments {
  CommonOptions common;
  std::vector<std::string> words;  // paths and the separator
  SideChoice group, device, rank;
  UntracedTimes untraced;
  std::string category;
};

struct Sides {
  std::string a, b;
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
  if (a.size() > 1 || b.size() > 1) {
    FailUsage(
        fmt::format("{} files are named for side {}",
                    std::max(a.size(), b.size()), a.size() > 1 ? "A" : "B"),
        "name one rank's file a side; sets of ranks are not read yet");
  }
  return {a[0], b[0]};
}

// The set-up files of two traces in one folder would be the same one, and it
// cannot be known whose it is.
bool InOneFolder(const Sides& sides) {
  std::error_code error;
  return fs::equivalent(fs::absolute(sides.a).parent_path(),
                        fs::absolute(sides.b).parent_path(), error);
}

void SayIgnored(const Sides& sides) {
  const ServerFacts server = ReadServerArgsBeside(sides.a);
  if (server.facts.empty() && server.problem.empty()) return;
  fmt::print(stderr,
             "inferdiff: server_args.json is not used: both traces lie beside "
             "it, and it does not say whose it is\n");
}

SetupFacts FactsOf(const std::string& trace_path) {
  ServerFacts server = ReadServerArgsBeside(trace_path);
  if (!server.problem.empty())
    WriteMessage(fmt::format("inferdiff: {}\n", Printable(server.problem)));
  return std::move(server.facts);
}

struct LoadedPair {
  LoadedTrace a, b;
};

// Small files are read one after the other: a thread costs more than they do.
LoadedPair LoadBoth(const Sides& sides, const CompareArguments& arguments,
                    const RuleSet& rules) {
  constexpr uintmax_t kSmall = 4 << 20;
  Progress progress(2);
  unsigned threads = arguments.common.threads > 0
                         ? arguments.common.threads
                         : std::max(1U, std::thread::hardware_concurrency());
  std::error_code error;
  const uintmax_t size =
      std::min(fs::file_size(sides.a, error), fs::file_size(sides.b, error));
  const bool parallel = threads > 1 && !error && size > kSmall;
  const unsigned each = parallel ? (threads + 1) / 2 : threads;
  const auto load_a = [&] {
    return LoadTrace(
        sides.a, rules,
        {each, {arguments.device.a, arguments.rank.a}, progress.ForFile(0)});
  };
  auto future =
      std::async(parallel ? std::launch::async : std::launch::deferred, load_a);
  // A first where both fail: the message is the same for any thread count.
  if (!parallel) future.wait();
  std::exception_ptr failed;
  LoadedPair pair;
  try {
    pair.b = LoadTrace(
        sides.b, rules,
        {each, {arguments.device.b, arguments.rank.b}, progress.ForFile(1)});
  } catch (...) {
    failed = std::current_exception();
  }
  pair.a = future.get();
  if (failed) std::rethrow_exception(failed);
  return pair;
}

CompareResult CompareSides(const Sides& sides,
                           const CompareArguments& arguments,
                           const RuleSet& rules,
                           const CompareOptions& options) {
  LoadedPair pair = LoadBoth(sides, arguments, rules);
  const GroupChoice chosen = ChooseGroups(pair.a.steps, pair.b.steps);
  const bool ambiguous = InOneFolder(sides);
  if (ambiguous) SayIgnored(sides);
  const SetupFacts facts_a = ambiguous ? SetupFacts() : FactsOf(sides.a);
  const SetupFacts facts_b = ambiguous ? SetupFacts() : FactsOf(sides.b);
  const SideChoice& group = arguments.group;
  LedgerResult a =
      AccountTrace(std::move(pair.a), rules, group.a.value_or(chosen.a));
  LedgerResult b =
      AccountTrace(std::move(pair.b), rules, group.b.value_or(chosen.b));
  return Compare(std::move(a), facts_a, std::move(b), facts_b, options);
}

int Run(const CompareArguments& arguments) {
  const CommonOptions& common = arguments.common;
  const Sides sides = SplitSides(arguments.words);
  CompareOptions options;
  options.untraced = arguments.untraced;
  if (!arguments.category.empty())
    options.category = CategoryOption(arguments.category);
  Outputs outputs(common, {sides.a, sides.b}, kAllFormats);
  const RuleSet rules = LoadRules(common.rules_path);
  const CompareResult result = CompareSides(sides, arguments, rules, options);
  WriteReport(outputs,
              {[&] { return CompareDocument(result); },
               [&](const TextSink& sink) { WriteCompareJson(result, sink); },
               [&] { return CompareTsvText(result); }});
  return std::max(ExitCode(common, result.a.source.counters),
                  ExitCode(common, result.b.source.counters));
}

}  // namespace

Command AddCompare(CLI::App& root) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* app =
      AddSubcommand(root, "compare", {kHelp, kFormatHelp, kReadHelp});
  AddPositionals(*app, arguments->words);
  AddMicroseconds(*app, "--untraced-a", arguments->untraced.a);
  AddMicroseconds(*app, "--untraced-b", arguments->untraced.b);
  AddText(*app, "--category", arguments->category);
  AddSideChoice(*app, "--group", arguments->group);
  AddSideChoice(*app, "--device", arguments->device);
  AddSideChoice(*app, "--rank", arguments->rank);
  AddFormatOptions(*app, arguments->common);
  AddReadOptions(*app, arguments->common);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
