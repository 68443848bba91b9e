// SPDX-License-Identifier: Apache-2.0
// What a user names -> the files of one side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inferdiff {

struct InputFileName {
  std::string path;
  /// By the names of all files of the side; absent where they do not tell the
  /// files apart.
  std::optional<int64_t> rank;
};

/// The files of a rank set, or of a single rank.
struct InputSet {
  std::vector<InputFileName> files;  // by rank, then name; at least one
  std::string label;                 // short, without folders
  bool ledgers = false;              // ledger files, not traces
  /// Files of a folder that are no traces, or no rank's: for a remark.
  std::vector<std::string> passed_over;
};

/// `words` are files, folders and patterns (of glob(7)) in any mixture. Of a
/// folder its traces count, and those of folders in it that are named after
/// ranks; of one without traces, its ledger files (.ledger). Throws InputError:
/// "unreadable-file", "no-traces" (an empty folder or pattern),
/// "several-captures" where a folder holds more than one capture or stage, so
/// that the user says which; "usage" for traces and ledgers together.
InputSet ExpandInputs(const std::vector<std::string>& words);

/// Of several files that are ranks by their names, leaves the one of `rank`,
/// which has then done its work and is reset. Throws InputError "no-rank".
void KeepRank(InputSet* set, std::optional<int64_t>* rank);

/// "a-TP-0.json, a-TP-1.json, a-TP-2.json and 5 more"
std::string NamesOf(const std::vector<InputFileName>& files);

/// A sentence on the files of folders that were passed over, if any.
std::string PassedOverText(const InputSet& set);

}  // namespace inferdiff
