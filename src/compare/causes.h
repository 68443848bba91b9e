// SPDX-License-Identifier: Apache-2.0
// The gap with what is known beyond two ledgers; see Causes.
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// After the gap, its parts, the row groups and the alignment. Throws
/// ContractError when the parts do not add up to the nanosecond.
Causes FindCauses(const CompareResult& result, const CompareOptions& options);

/// The idle time outside replays; they add up to it. Those of nothing on both
/// sides are left out.
std::vector<IdlePart> IdleParts(const SideTotals& a, const SideTotals& b);

/// count + price + rest = work, where n operations a step run on each side.
FloorSplit SplitByFloor(Rational work, Rational ops_a, Rational ops_b,
                        Rational floor_a, Rational floor_b);

/// Why a side's floor cannot be used; empty where it can.
std::string FloorDoubt(std::string_view side, const LedgerResult& ledger,
                       const SideTotals& totals,
                       const std::optional<Rational>& floor);

/// What running on several streams is worth to a side.
Overlap FindOverlap(const LedgerResult& ledger, const SideTotals& totals,
                    const LedgerResult* serial, const SideTotals& serial_totals,
                    std::optional<int64_t> untraced_ns,
                    std::optional<int64_t> untraced_serial_ns);

}  // namespace inferdiff
