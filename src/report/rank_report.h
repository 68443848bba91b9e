// SPDX-License-Identifier: Apache-2.0
// The ranks of a set side by side, and who waits for whom.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ledger/ledger.h"
#include "report/document.h"

namespace inferdiff {

/// Nothing for a ledger of one rank.
std::vector<Section> RankSections(const LedgerResult& ledger);

/// {"count", "matched_collectives", "ranks": [...], "long_waits": [...]}
nlohmann::ordered_json RankSetJson(const LedgerResult& ledger);

}  // namespace inferdiff
