// SPDX-License-Identifier: Apache-2.0
// Small words that findings, reasons and reports share.
#pragma once

#include <string>

#include "base/number.h"
#include "base/wide.h"
#include "compare/compare.h"

namespace inferdiff {

/// The two sides of a result by name, for code that treats them alike.
struct SideView {
  Side side = Side::kA;
  const LedgerResult& ledger;
  const SideTotals& totals;

  std::string_view name() const { return NameOf(side); }
  Rational headline() const { return totals.PerStep(totals.headline_ns); }
};

inline SideView ViewOf(const CompareResult& result, Side side) {
  if (side == Side::kB) return {side, result.b, result.b_totals};
  return {Side::kA, result.a, result.a_totals};
}

/// "12.5 %" of a sentence; tables leave the sign to the column's head.
inline std::string Share(Rational part, Rational whole, int decimals) {
  return Percent(part, whole, decimals) + " %";
}

/// part >= percent % of whole, exactly.
inline bool AtLeastPercent(Rational part, Rational whole, int64_t percent) {
  return Wide{part.num} * whole.den * 100 >=
         Wide{whole.num} * part.den * percent;
}

}  // namespace inferdiff
