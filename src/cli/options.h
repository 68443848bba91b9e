// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share, and their errors.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/compare.h"
#include "load/load.h"

namespace CLI {
class App;
}

namespace inferdiff {

struct CommonOptions {
  std::string rules_path;
  std::string format;                // empty: terminal, where no file is named
  std::vector<std::string> outputs;  // paths
  unsigned threads = 0;              // 0 = one a processor
  bool strict = false;
};

/// Those that the options name; LoadRules of load/load.h.
Rules LoadRules(const CommonOptions& options);

/// For one side, or for A and B.
struct SideChoice {
  std::optional<int64_t> a, b;
};

/// Tokens that a sequence gets of a cycle on average.
struct AcceptedTokens {
  std::optional<Rational> a, b;
};

/// The part of --help that each of AddReadOptions, AddFormatOptions and
/// AddDeviceOptions stands for; for AddFormatOptions with what compare and
/// ledger write beyond the others.
extern const std::string_view kReadHelp, kFormatHelp, kDeviceHelp,
    kCompareFormatHelp, kLedgerFormatHelp;

/// A subcommand whose --help is these pieces, word for word.
CLI::App* AddSubcommand(CLI::App& root, const std::string& name,
                        std::initializer_list<std::string_view> help);

/// --rules, --threads, --strict.
void AddReadOptions(CLI::App& app, CommonOptions& options);
/// --format and -o.
void AddFormatOptions(CLI::App& app, CommonOptions& options);
/// --device and --rank.
void AddDeviceOptions(CLI::App& app, DeviceChoice& choice);
// CLI11 takes seconds to compile: it stays in options.cc and main.cc.
void AddPositionals(CLI::App& app, std::vector<std::string>& target);
void AddText(CLI::App& app, const std::string& name, std::string& target);
void AddFlag(CLI::App& app, const std::string& name, bool& target);
/// -o, --output: may be repeated.
void AddOutputs(CLI::App& app, std::vector<std::string>& target);
/// --fail-if: may be repeated; ParseGate reads them.
void AddGates(CLI::App& app, std::vector<std::string>& target);
/// A whole number from `least` to `most`.
void AddWhole(CLI::App& app, const std::string& name, int64_t least,
              int64_t most, int64_t& target);
/// A time above 0, "4.61ms", or an arm's step, "arms.csv:base"; to the ns.
void AddTime(CLI::App& app, const std::string& name,
             std::optional<int64_t>& target_ns);
/// "A=x,B=y", or one of the two, to `take`, which says whether a value will
/// do; `form` and `what` are for the message where it does not.
void AddPerSide(CLI::App& app, const std::string& name, const std::string& form,
                const std::string& what,
                const std::function<bool(Side, std::string_view)>& take);
/// "A=0.64us,B=1.63us", or one of the two.
void AddFloors(CLI::App& app, const std::string& name, FloorTimes& target);
/// "3.1", at least 1.
void AddAccepted(CLI::App& app, const std::string& name,
                 std::optional<Rational>& target);
/// "A=3.1,B=2.9", or one of the two.
void AddAccepted(CLI::App& app, const std::string& name,
                 AcceptedTokens& target);
/// A whole number that something is numbered by.
void AddIndex(CLI::App& app, const std::string& name,
              std::optional<int64_t>& target);
/// N, or N,M for A and B.
void AddSideChoice(CLI::App& app, const std::string& name, SideChoice& target);
/// The category or group of this id; a usage error that lists them.
CategoryGroup CategoryOption(const std::string& id);
/// The same of a role.
Role RoleOption(const std::string& id);

/// "--format", "-o": as the parser knows them.
std::vector<std::string> OptionNames(const CLI::App& app);

/// Turns "--formta" into a usage error that names --format. `app` is the
/// subcommand, `extras` what it did not understand.
[[noreturn]] void FailUnknown(const CLI::App& app,
                              const std::vector<std::string>& extras);

/// One trace or more; a usage error that says what to write instead.
void ExpectTraces(const std::string& command,
                  const std::vector<std::string>& paths);

}  // namespace inferdiff
