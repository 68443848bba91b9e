// SPDX-License-Identifier: Apache-2.0
// The words of one side -> one ledger, of a rank or of a set of ranks.
//
// The first rank is read at once, because its steps decide which work is
// accounted; the others follow, each read, accounted and forgotten, as many at
// a time as there are threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/load.h"

namespace inferdiff {

class SideLoader {
 public:
  /// Throws what ExpandInputs and LoadTrace throw.
  SideLoader(const std::vector<std::string>& words, const RuleSet& rules,
             LoadOptions options);

  const InputSet& inputs() const { return inputs_; }
  /// Of the first rank.
  const Steps& steps() const { return first_.steps; }
  bool IsSet() const;

  /// `group` is one of the first rank's; of the others that of equal shape.
  /// Consumes the loader.
  LedgerResult Account(std::optional<int64_t> group) &&;
  /// The same before ranks are joined: one ledger a rank.
  std::vector<LedgerResult> AccountRanks(std::optional<int64_t> group) &&;

 private:
  std::vector<LedgerResult> AccountFile(LoadedTrace loaded,
                                        const StepShape& wanted,
                                        std::optional<int64_t> rank) const;
  void AccountOthers(const StepShape& wanted,
                     std::vector<std::vector<LedgerResult>>* by_file) const;

  InputSet inputs_;
  const RuleSet& rules_;
  LoadOptions options_;
  LoadedTrace first_;
};

}  // namespace inferdiff
