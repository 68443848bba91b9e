// SPDX-License-Identifier: Apache-2.0
// A ledger as one table for scripts and spreadsheets.
#pragma once

#include <string>

#include "ledger/ledger.h"

namespace inferdiff {

/// Columns: row, name, category, count, sum_ns, attributed_ns, exclusive_ns,
/// hidden_same_lane_ns, hidden_cross_lane_ns, call_p10_ns, call_p50_ns,
/// call_p90_ns. `row` is wall, category, pseudo, family or kernel; totals are
/// over the used steps, whose number stands in the comment above.
std::string LedgerTsv(const LedgerResult& ledger);

/// "# inferdiff 0.1.0, rules ..., input ...": the first line of every TSV.
std::string TsvProvenance(const Provenance& source);

}  // namespace inferdiff
