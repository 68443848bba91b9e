// SPDX-License-Identifier: Apache-2.0
// inferdiff for programs: the one header that is installed, as <inferdiff.h>.
//
//   inferdiff::ReportOptions options;
//   options.fail_if = {"gap.wall > 5%"};
//   const inferdiff::Report report =
//       inferdiff::Compare({"baseline.ledger"}, {"fresh/"}, options);
//
// Results are texts; the JSON has a schema, and only grows (docs/json.md). The
// library never prints, never exits and keeps no state: its functions may be
// called from several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace inferdiff {

enum class ReportForm : uint8_t { kJson, kMarkdown, kText, kTsv };

struct ReportOptions {
  ReportForm form = ReportForm::kJson;
  std::vector<std::string> fail_if;  // gates; docs/gates.md
  std::string rules_path;            // rules of your own, before the built-in
  unsigned threads = 0;              // 0: one a processor; never another result
  std::optional<int64_t> device, rank;  // of a file with several
};

struct Report {
  std::string text;  // in the form asked for
  /// A sentence for each gate that fails, in order.
  std::vector<std::string> failed_gates;
};

/// The input or the options cannot be used; ids are those of docs/errors.md.
/// "bug": a sum of ours did not close.
struct ReportError : std::runtime_error {
  ReportError(const std::string& id_in, const std::string& what,
              const std::string& fix_in)
      : std::runtime_error(what), id(id_in), fix(fix_in) {}

  std::string id;
  std::string fix;  // what can be done about it; may be empty
};

/// What `inferdiff ledger TRACE...` says. Traces are files, folders, patterns
/// or ledger files. Throws ReportError.
Report Account(const std::vector<std::string>& traces,
               const ReportOptions& options = {});

/// What `inferdiff compare A... -- B...` says. Throws ReportError.
Report Compare(const std::vector<std::string>& a,
               const std::vector<std::string>& b,
               const ReportOptions& options = {});

}  // namespace inferdiff
