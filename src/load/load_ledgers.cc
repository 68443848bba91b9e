// SPDX-License-Identifier: Apache-2.0
#include "load/load_ledgers.h"

#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/error.h"
#include "ledger/rank_set.h"

namespace inferdiff {

LedgerPart ReadLedgers(const InputSet& inputs) {
  std::vector<NamedPart> parts;
  for (const InputFileName& file : inputs.files)
    parts.push_back({file.path, ReadLedgerFile(file.path)});
  return JoinParts(std::move(parts));
}

LedgerResult JoinLedger(const LedgerPart& part) {
  try {
    return JoinRanks(part.ranks, part.set.label);
  } catch (const ContractError& error) {
    FailDamaged(error.what());
  }
}

}  // namespace inferdiff
