// SPDX-License-Identifier: Apache-2.0
// Gates: conditions on which a run fails, for continuous integration.
//
//   category.moe_gemm.ratio > 1.1        PATH OP NUMBER[UNIT]
//
// docs/gates.md lists the paths. Compared exactly, as fractions; rounded only
// where they are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rational.h"
#include "compare/compare.h"

namespace inferdiff {

/// What a gate is about: other results have other figures.
enum class GateScope : uint8_t { kCompare, kLedger };

/// What a figure is measured in, and so which units its bound may have.
enum class GateUnit : uint8_t {
  kTime,   // ns, us, ms, s, or % of the step
  kShare,  // %, or a plain fraction
  kRatio,  // a plain number, or %
  kCount,  // a plain number
};

struct Gate {
  std::string text;               // as the user wrote it
  std::vector<std::string> path;  // "category", "moe_gemm", "ratio"
  GateUnit unit = GateUnit::kCount;
  enum class Op : uint8_t { kAbove, kNotBelow, kBelow, kNotAbove };
  Op op = Op::kAbove;
  /// ns, or a plain number; of a percentage the hundredth.
  Rational bound;
  bool percent = false;
  std::string_view bound_unit;  // "ms"; empty: none
};

/// Throws InputError "usage" with a caret below what is wrong, and the names
/// that exist.
Gate ParseGate(std::string_view text, GateScope scope);

/// A sentence for each gate that fails, in order, with the value that failed.
/// One on a figure that is not known fails, too, and says why: silence would
/// pass for success.
std::vector<std::string> FailedGates(const std::vector<Gate>& gates,
                                     const CompareResult& result);
std::vector<std::string> FailedGates(const std::vector<Gate>& gates,
                                     const LedgerResult& ledger);

}  // namespace inferdiff
