// SPDX-License-Identifier: Apache-2.0
// inferdiff-probe: what the machine itself costs.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "base/version.h"
#include "probes/host.h"
#include "probes/judge.h"
#include "probes/probe.h"

namespace inferdiff {
namespace {

constexpr int kDone = 0, kNotClean = 1, kUnusable = 2;

constexpr char kHelp[] =
    R"(Example: inferdiff-probe all -o b200.probe.json

Measures on a GPU machine what no trace shows: what a kernel costs that does
nothing, what the memory gives, what a tracer adds. `inferdiff compare --probe-a
FILE --probe-b FILE` takes what it writes.

Usage: inferdiff-probe COMMAND [OPTION]...

  floor       device time of one more kernel: in a replayed graph, one after the
              other and beside each other, eagerly, with programmatic dependent
              launch; bf16 GEMV; what the host pays for a launch
  canary      bandwidth of device memory and of each CPU node's: is somebody
              else on this machine?
  collective  all-reduce over the visible GPUs, 1 KB to 64 MB, and with a rank
              that comes late: waiting and transfer apart (NCCL or RCCL)
  overlap     what two chains save beside each other, and what a side stream
              costs a full device
  tracecost   what the vendor's tracer adds to a kernel, and from which length on
              its durations can be believed (CUPTI)
  info        devices, drivers, clocks, limits, links, CPU nodes
  all         everything, in under a minute

      --baseline FILE  canary, all: hold the bandwidths against those that FILE
                       has from earlier: clean, contended (slower now) or
                       baseline-suspect (faster now); exit 1 unless clean
                       (default: none)
      --format FORMAT  what goes to stdout: table or json (default: table;
                       nothing where -o is given)
  -o, --output FILE    write FILE: a table where it ends in .txt, else json
  -h, --help           this text
      --version        the version

Measures on the first visible device (CUDA_VISIBLE_DEVICES and
HIP_VISIBLE_DEVICES choose). It reads clocks, power and modes and changes none.
Run inside a tracer, as in `rocprofv3 --kernel-trace -- inferdiff-probe floor`,
it says so in its results. Exit status: 0 done, 1 not clean against the
baseline, 2 no GPU, or the command line cannot be used.
)";

struct Command {
  const char* name;
  void (*run)(Session*);
};
constexpr Command kCommands[] = {
    {"info", ProbeInfo},       {"floor", ProbeFloor},
    {"canary", ProbeCanary},   {"collective", ProbeCollective},
    {"overlap", ProbeOverlap}, {"tracecost", ProbeTraceCost}};

struct Arguments {
  std::string command, baseline, format, output;
};

int Fail(const std::string& what) {
  fmt::print(stderr, "inferdiff-probe: {}\n", what);
  return kUnusable;
}

// What goes wrong in one probe of all does not cost the others.
void RunAll(Session* session) {
  for (const Command& command : kCommands) {
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "{}...\n", command.name);
    try {
      command.run(session);
    } catch (const std::exception& error) {
      session->report.absent.push_back({command.name, error.what()});
    }
  }
}

void Run(const std::string& name, Session* session) {
  if (name == "all") return RunAll(session);
  for (const Command& command : kCommands)
    if (name == command.name) command.run(session);
}

bool EndsWithTxt(const std::string& path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".txt") == 0;
}

// Beside its place first: a file is whole or not there.
void WriteFile(const std::string& path, const std::string& text) {
  const std::string beside = path + ".tmp";
  std::ofstream file(beside, std::ios::binary);
  file << text;
  file.close();
  if (!file || std::rename(beside.c_str(), path.c_str()) != 0) {
    std::remove(beside.c_str());
    throw std::runtime_error("cannot write " + path);
  }
}

void Write(const Arguments& arguments, const Report& report) {
  if (!arguments.output.empty())
    WriteFile(arguments.output, EndsWithTxt(arguments.output)
                                    ? TableText(report)
                                    : JsonText(report));
  if (!arguments.format.empty() || arguments.output.empty())
    fmt::print("{}", arguments.format == "json" ? JsonText(report)
                                                : TableText(report));
}

int Probe(const Arguments& arguments) {
  Report baseline;
  if (!arguments.baseline.empty()) {
    const std::string text = WholeFile(arguments.baseline);
    if (text.empty()) return Fail("cannot read " + arguments.baseline);
    baseline = ReadReport(text);
  }
  const std::string tracer = TracerIn(WholeFile("/proc/self/maps"));
  const DeviceSearch search = FindDevices();
  if (search.count == 0) return Fail("no GPU: " + search.why);
  Clocks clocks(search.bus_id);
  Session session;
  session.clocks = &clocks;
  Report& report = session.report;
  report.command = arguments.command;
  report.version = Version();
  report.runtime = search.runtime;
  report.device = search.name;
  report.tracing = tracer;
  if (!clocks.found()) report.absent.push_back({"clocks", clocks.why()});
  WarmUp();
  Run(arguments.command, &session);
  report.clocks = clocks.Sampled();
  report.doubts = clocks.Doubts();
  if (!arguments.baseline.empty()) JudgeCanary(baseline, &report);
  Write(arguments, report);
  return report.verdict.empty() || report.verdict == "clean" ? kDone
                                                             : kNotClean;
}

void Describe(CLI::App* app, Arguments* arguments) {
  app->formatter_fn([](const CLI::App*, const std::string&,
                       CLI::AppFormatMode) { return std::string(kHelp); });
  app->set_version_flag("--version", fmt::format("inferdiff-probe {} ({})\n",
                                                 Version(), Commit()));
  std::vector<std::string> names = {"all"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  app->add_option("command", arguments->command)
      ->required()
      ->check(CLI::IsMember(names));
  app->add_option("--baseline", arguments->baseline);
  app->add_option("--format", arguments->format)
      ->check(CLI::IsMember({"table", "json"}));
  app->add_option("-o,--output", arguments->output);
}

int Main(int argc, char** argv) {
  CLI::App app;
  Arguments arguments;
  Describe(&app, &arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    if (argc < 2) return fmt::print("{}", kHelp), kUnusable;
    return Fail(std::string(error.what()) + "; see --help");
  }
  if (!arguments.baseline.empty() && arguments.command != "canary" &&
      arguments.command != "all")
    return Fail("--baseline goes with canary and all");
  try {
    return Probe(arguments);
  } catch (const std::exception& error) {
    return Fail(error.what());
  }
}

}  // namespace
}  // namespace inferdiff

int main(int argc, char** argv) { return inferdiff::Main(argc, argv); }
