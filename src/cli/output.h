// SPDX-License-Identifier: Apache-2.0
// Where results go: one format to stdout, files by their endings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_pieces.h"
#include "cli/options.h"
#include "report/table.h"

namespace inferdiff {

struct InputSet;

/// kLedger goes to files only.
enum class Format : uint8_t {
  kTerminal,
  kMarkdown,
  kJson,
  kTsv,
  kHtml,
  kPerfetto,
  kTrace,  // whatever the file is called
  kLedger
};

/// Those of --format.
std::vector<std::string_view> FormatNames();

/// Writes the result in one format; called once a destination.
using ResultWriter =
    std::function<void(Format, const TerminalStyle&, const TextSink&)>;

/// To stderr; where that cannot be written nobody can be told.
void WriteMessage(std::string_view text);

/// To stdout. Throws InputError "cannot-write".
void WriteStdout(std::string_view text);

/// Puts something in place of stdin, stdout and stderr that the caller closed,
/// so that no file of ours gets their number.
void HoldStandardFiles();

/// Opened before the work, so that a path that cannot be written fails at
/// once. A file is written beside its place and renamed into it when whole;
/// what is not whole is removed, on SIGINT too.
class Outputs {
 public:
  /// To stdout goes --format, else the first of `allowed` where no -o stands.
  /// No file may be one of `inputs` or the rules, nor stand twice. Throws
  /// InputError "usage" or "cannot-write".
  Outputs(const CommonOptions& common, const std::vector<std::string>& inputs,
          std::vector<Format> allowed);
  ~Outputs();
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// The same of what folders and patterns among `inputs` stand for, and of a
  /// server_args.json beside them, as soon as they are known. Throws InputError
  /// "usage".
  void RefuseInputs(const InputSet& inputs) const;

  /// Whether some destination takes a report, and whether one takes a ledger.
  bool WantsReport() const;
  bool WantsLedger() const;

  /// Files first, then stdout, whose reader may have gone: that is no error.
  void Write(const ResultWriter& writer);

 private:
  struct Destination;
  std::vector<std::unique_ptr<Destination>> destinations_;
};

}  // namespace inferdiff
