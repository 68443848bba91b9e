// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison, one function each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.h"
#include "report/table.h"

namespace inferdiff {

/// A line of the waterfall.
struct WaterfallRow {
  std::string id;  // GapPart::id; empty: several small parts
  std::string title;
  Rational delta;  // the slower side minus the faster
  int64_t percent = 0;
  GapPart::Sense sense = GapPart::Sense::kExact;
  std::optional<Rational> scaled;
};

/// The slower side's surplus first, what it is ahead in last; parts under 2 %
/// of the largest in one line.
std::vector<WaterfallRow> WaterfallRows(const CompareResult& result);

/// Where the gap sits: the slower side minus the faster one, largest first,
/// with bars. Small parts are folded into one line.
Table WaterfallTable(const CompareResult& result);

/// B minus A group by group, each side as serial as it is known: time,
/// operations, and what floors make of the difference.
Table CausesTable(const CompareResult& result);

/// Category by category, a step; rows add up to the wall (or span).
Table CategoryTable(const CompareResult& result);

/// wall, span, sum, busy, idle and kernels of the used steps.
Table StepTable(const CompareResult& result);

/// The largest kernel families of one side; the last line holds the rest.
Table FamilyTable(const CompareResult& result, Side side,
                  const std::vector<FamilyAmounts>& families, size_t rows);

/// Every field of the set-up that a side states.
Table SetupTableOf(const CompareResult& result);

/// The unit of the tables' times: by the longer side's step.
struct TableUnit {
  std::string_view name;
  int64_t last_digit_ns = 1;  // of the third decimal

  /// Zero is printed as such where it is exact, else as "<0.001".
  std::string Print(int64_t last_digits, bool zero) const;
  std::string Print(Rational ns) const;
};
TableUnit UnitOf(const CompareResult& result);

}  // namespace inferdiff
