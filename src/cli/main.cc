// SPDX-License-Identifier: Apache-2.0
// Parse, run one subcommand, turn the two exceptions into exit codes.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/separator.h"

namespace inferdiff {
namespace {

constexpr int kUnusableInput = 2;
constexpr int kOurBug = 70;  // EX_SOFTWARE

constexpr std::string_view kHelp =
    R"(Example: inferdiff compare mi300x.trace.json.gz -- b200.trace.json.gz

Compares LLM inference on two platforms from GPU traces: how far apart they
are, where each microsecond of the gap sits, and what to do first.

Usage: inferdiff COMMAND [OPTION]... TRACE

  compare A -- B      the gap between two traces and what it is made of
  ledger TRACE        where the time of one trace's steps goes
  merge LEDGER        the ledgers of a set's parts, made on many machines
  steps TRACE         the steps found in it, and on what evidence
  kernels TRACE       its kernels: category, calls, time
  explain TRACE WHAT  why a kernel has its category, a step its borders,
                      a row its value
  dump TRACE          every GPU operation as TSV, for scripts
  redact TRACE        the trace without names, paths and addresses, to publish
  help COMMAND        its options; the same as `inferdiff COMMAND --help`

  -h, --help          this text
      --version       the version

TRACE is a trace of one rank: PyTorch's profiler, JAX or Proton (.json),
Nsight Systems (.sqlite), rocprofv3 (.csv, .json, .db), rocprof (.csv, .json) or
RPD (.rpd); .gz and .zst too. compare and ledger take all ranks as well: files,
a folder, or a pattern such as 'run/*TP-*'; the others choose one by --rank.
LEDGER is what `inferdiff ledger -o FILE.ledger` wrote; compare takes it, too.
Exit status: 0 done, 1 a check that was asked for failed (--fail-if,
--strict), 2 the input or the command line cannot be used, 70 a bug of
inferdiff.
)";

void PrintError(const InputError& error) {
  std::string text = fmt::format("inferdiff: {}\n", error.what());
  std::string where = Printable(error.file);
  if (error.where) {
    constexpr std::string_view kUnits[] = {"byte", "row", "line"};
    where += fmt::format("{}{} {}", where.empty() ? "" : ", ",
                         kUnits[static_cast<size_t>(error.where->unit)],
                         error.where->value);
  }
  if (!where.empty()) text += fmt::format("  in:  {}\n", where);
  if (!error.fix.empty()) text += fmt::format("  fix: {}\n", error.fix);
  if (error.id != "usage") text += fmt::format("  id:  {}\n", error.id);
  WriteMessage(text);
}

// CLI11 takes the arguments in reverse.
void Parse(CLI::App& root, int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i)
    arguments.push_back(argv[i] == std::string_view("--") ? kSeparator
                                                          : argv[i]);
  root.parse(std::move(arguments));
}

constexpr std::string_view kHelpHelp =
    R"(Example: inferdiff help compare

What a command does, and its options; without a command, the list of them.

Usage: inferdiff help [COMMAND]

  -h, --help           this text
)";

CLI::App* AddHelp(CLI::App& root, std::vector<std::string>& words) {
  CLI::App* app = AddSubcommand(root, "help", {kHelpHelp});
  AddPositionals(*app, words);
  return app;
}

int Help(CLI::App& root, const std::vector<std::string>& words) {
  CLI::App* app = &root;
  for (const std::string& word : words) {
    const auto found = app->get_subcommands(
        [&](const CLI::App* command) { return command->get_name() == word; });
    if (found.empty()) FailUnknown(*app, {word});
    app = found.front();
  }
  // Its own help would be that of the command parsed: of this one.
  WriteStdout(app == &root ? std::string(kHelp) : app->help());
  return 0;
}

/// Those that people type; `man` and `completion` are for packages.
std::vector<CommandHelp> HelpOf(const CLI::App& root) {
  std::vector<CommandHelp> commands = {
      {"", std::string(kHelp), OptionNames(root)}};
  for (const CLI::App* app : root.get_subcommands(
           [](const CLI::App* one) { return !one->get_group().empty(); })) {
    commands.push_back({app->get_name(), app->help(), OptionNames(*app)});
  }
  return commands;
}

int Run(int argc, char** argv) {
  CLI::App root;
  root.formatter_fn([](const CLI::App*, const std::string&,
                       CLI::AppFormatMode) { return std::string(kHelp); });
  root.set_version_flag(
      "--version", fmt::format("inferdiff {} ({})\n", Version(), Commit()));
  root.allow_extras();
  root.require_subcommand(0, 1);  // a file may be called like a command
  const std::vector<Command> commands = {
      AddCompare(root), AddLedger(root),  AddMerge(root), AddSteps(root),
      AddKernels(root), AddExplain(root), AddDump(root),  AddRedact(root)};
  std::vector<std::string> help_of;
  const CLI::App* help = AddHelp(root, help_of);
  const CLI::App* manual = root.add_subcommand("man")->group("");
  const CLI::App* completion = root.add_subcommand("completion")->group("");
  try {
    Parse(root, argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = root.get_subcommands();
    WriteStdout(chosen.empty() ? root.help() : chosen.front()->help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    WriteStdout(version.what());
    return 0;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view what = error.what();  // "--top: 1 required ..."
    FailUsage(fmt::format("{} takes one value", what.substr(0, what.find(':'))),
              "see `inferdiff COMMAND --help`");
  } catch (const CLI::ParseError& error) {
    FailUsage(error.what(), "see `inferdiff --help`");
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    if (const auto extras = command.app->remaining(); !extras.empty())
      FailUnknown(*command.app, extras);
    return command.run();
  }
  if (help->parsed()) {
    if (const auto extras = help->remaining(); !extras.empty())
      FailUnknown(*help, extras);
    return Help(root, help_of);
  }
  if (const auto extras = root.remaining(); !extras.empty())
    FailUnknown(root, extras);
  if (manual->parsed() || completion->parsed()) {
    WriteStdout(manual->parsed() ? ManualPage(HelpOf(root))
                                 : BashCompletion(HelpOf(root)));
    return 0;
  }
  WriteMessage(kHelp);
  return kUnusableInput;
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) {
  // A reader that has gone (`| head`) is seen where we write; see output.cc.
  signal(SIGPIPE, SIG_IGN);
  inferdiff::HoldStandardFiles();
  try {
    return inferdiff::Run(argc, argv);
  } catch (const inferdiff::InputError& error) {
    inferdiff::PrintError(error);
    return inferdiff::kUnusableInput;
  } catch (const std::bad_alloc&) {
    inferdiff::WriteMessage("inferdiff: out of memory\n");
    return inferdiff::kUnusableInput;
  } catch (const std::exception& error) {
    inferdiff::WriteMessage(fmt::format(
        "inferdiff: {}\n  This is a bug of inferdiff {} ({}), not of "
        "your trace. Nothing was printed that\n  could be wrong. Please "
        "report it with the command and the trace.\n",
        error.what(), inferdiff::Version(), inferdiff::Commit()));
    return inferdiff::kOurBug;
  }
}
