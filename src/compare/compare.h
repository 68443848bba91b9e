// SPDX-License-Identifier: Apache-2.0
// Two ledger results -> is it fair, how far apart, and where the gap sits.
// Works on results only: no trace, no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rational.h"
#include "ledger/ledger.h"

namespace inferdiff {

enum class Comparability : uint8_t { kYes, kWithReservations, kNo };

/// One line of the set-up table. `same` is unknown when a side says nothing.
struct SetupRow {
  std::string field;  // "framework", "batch", "tensor parallel"
  std::string a, b;   // empty = unknown
  std::optional<bool> same;
  bool must_match = true;  // else shown only (the GPU is meant to differ)
};

struct ComparableResult {
  Comparability verdict = Comparability::kYes;
  std::vector<std::string> reasons;  // sentences
  std::vector<std::string> unknown;  // fields no side or one side gives
};

/// How a figure is known; printed beside it.
enum class HowKnown : uint8_t { kMeasured, kBound, kEstimate };

/// B - A a step, exact:
/// wall = work + rank_wait + concurrency + foreign + idle.
struct Gap {
  bool wall_known = false;  // false: headline is the replay span, gap of spans
  Rational a_wall, b_wall;  // wall a step, or replay span
  Rational wall, work, rank_wait, concurrency, foreign, idle;
};

struct CategoryComparison {
  std::string name;                     // id, pseudo-categories included
  Rational a_attributed, b_attributed;  // ns a step
  Rational a_sum, b_sum;
  Rational a_hidden, b_hidden;
  Rational a_count, b_count;
};

struct Finding {
  std::string id;                 // "communication-dominates"
  std::string text;               // one sentence with its figures
  std::optional<Rational> prize;  // ns a step, when it can be one
  HowKnown how = HowKnown::kMeasured;
};

struct CompareResult {
  LedgerResult a, b;
  ComparableResult comparable;
  std::vector<SetupRow> setup;
  Gap gap;
  std::vector<CategoryComparison> categories;
  std::vector<Finding> findings;
};

/// Facts about a deployment that a trace does not hold, from a
/// server_args.json beside it: field -> value, by the names of SetupRow.
using SetupFacts = std::vector<std::pair<std::string, std::string>>;

CompareResult Compare(LedgerResult a, const SetupFacts& facts_a, LedgerResult b,
                      const SetupFacts& facts_b);

}  // namespace inferdiff
