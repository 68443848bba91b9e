// SPDX-License-Identifier: Apache-2.0
#include "ledger/collectives.h"

#include "ledger/ledger.h"

namespace inferdiff {

std::string_view IdOf(WaitBasis basis) {
  switch (basis) {
    case WaitBasis::kOneRank:
      return "one_rank";
    case WaitBasis::kRankSet:
      return "rank_set";
    case WaitBasis::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace inferdiff
