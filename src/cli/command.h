// SPDX-License-Identifier: Apache-2.0
// The subcommands: each declares its options and gives what runs it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace inferdiff {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;  // the exit code; throws InputError
};

Command AddCompare(CLI::App& root);
Command AddLedger(CLI::App& root);
Command AddMerge(CLI::App& root);
Command AddSteps(CLI::App& root);
Command AddKernels(CLI::App& root);
Command AddExplain(CLI::App& root);
Command AddDump(CLI::App& root);
Command AddRedact(CLI::App& root);

}  // namespace inferdiff
