// SPDX-License-Identifier: Apache-2.0
// What compare is told of models and machines beside the traces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "compare/compare.h"
#include "compare/probe_result.h"

namespace inferdiff {

struct MachineArguments {
  std::string model, model_b;    // paths of config.json
  std::string probe_a, probe_b;  // paths of a probe's results
  Bandwidth bandwidth_a, bandwidth_b;
  SideChoice batch, context, tensor_parallel;
};

/// The part of --help that AddMachineOptions stands for.
extern const std::string_view kMachineHelp;
void AddMachineOptions(CLI::App& app, MachineArguments& arguments);

/// The files that the arguments name: no output may replace them.
std::vector<std::string> FilesOf(const MachineArguments& arguments);

/// The arguments with their files read.
struct MachineFiles {
  MachineInput a, b;
  std::optional<ProbeResult> probe_a, probe_b;
};

/// Throws InputError "bad-config" and what opening a file throws; "usage" for
/// options that need another.
MachineFiles ReadMachineFiles(const MachineArguments& arguments);

/// Those of --floor, else of the probes. Throws InputError "usage" where both
/// name one side's.
FloorTimes FloorsOf(const FloorTimes& given, const MachineFiles& files);

/// Throws InputError "bad-config" where a probe ran on another device than the
/// trace.
void ExpectSameDevice(const MachineArguments& arguments,
                      const MachineFiles& files, const LedgerResult& a,
                      const LedgerResult& b);

}  // namespace inferdiff
