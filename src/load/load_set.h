// SPDX-License-Identifier: Apache-2.0
// The words of one side -> one ledger, of a rank or of a set of ranks.
//
// The first rank is read at once, because its steps decide which work is
// accounted; the others follow, each read, accounted, packed and forgotten, as
// many at a time as there are threads. Ledger files, or a published table, are
// read instead where the words name such.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger_file.h"
#include "load/inputs.h"
#include "load/load.h"
#include "load/shard.h"
#include "readers/server_args.h"

namespace inferdiff {

class SideLoader {
 public:
  /// Throws what ExpandInputs, LoadTrace and ReadLedgers throw, and InputError
  /// "other-rules" for a ledger.
  SideLoader(const std::vector<std::string>& words, const Rules& rules,
             LoadOptions options);

  const InputSet& inputs() const { return inputs_; }
  /// Of the first rank. A ledger holds the account of one group: of the others
  /// no step counts as used.
  const Steps& steps() const { return first_.steps; }
  /// What server_args.json beside the first trace says, or said when the
  /// ledger was made.
  ServerFacts ServerArgs() const;

  /// `group` is one of the first rank's; of the others that of equal shape.
  /// Consumes the loader. Throws InputError "no-group".
  LedgerResult Account(std::optional<int64_t> group) &&;
  /// The same before ranks are joined, and of some files only.
  LedgerPart AccountPart(std::optional<int64_t> group, Shard shard) &&;

 private:
  void LoadLedgers();
  bool TryResult(const std::vector<std::string>& words);
  void RefuseDeviceChoice() const;
  void ExpectGroup(std::optional<int64_t> group) const;
  bool IsSet() const;
  LedgerPart EmptyPart(uint32_t group, Shard shard) const;
  std::vector<PackedRank> AccountFile(LoadedTrace loaded, size_t file,
                                      uint32_t group) const;
  std::vector<PackedRank> AccountOther(size_t file, const StepGroup& wanted,
                                       const LoadOptions& options) const;
  void AccountOthers(const StepGroup& wanted, const std::vector<size_t>& files,
                     std::vector<std::vector<PackedRank>>* by_file) const;

  InputSet inputs_;
  Rules rules_;
  LoadOptions options_;
  LoadedTrace first_;  // of a ledger only the steps
  std::optional<LedgerPart> ledger_;
  std::optional<LedgerResult> result_;
};

/// The set-up files of two sides in one folder would be the same one, and it
/// cannot be known whose it is. A ledger brings its own.
bool ShareFolder(const SideLoader& a, const SideLoader& b);

}  // namespace inferdiff
