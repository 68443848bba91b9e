// SPDX-License-Identifier: Apache-2.0
// Several ranks -> one ledger.
//
//   TP-0 -> ledger --+
//   TP-1 -> ledger --+--> RankSet --> Finish: match collectives, move rank
//   ...              |                wait, sum up
//   another task's RankSet (Merge)
//
// Ranks may be added in any order and in any partition: the result is the
// same. A rank's tables are folded into the set's when it is added; what stays
// of it are its steps and its collectives.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {

/// Steps of ranks are put together only where they did work of one shape.
struct ShapeKey {
  StepKind kind = StepKind::kUnknown;
  std::optional<int64_t> batch, tokens;

  auto operator<=>(const ShapeKey&) const = default;
};

/// What the tables of ranks with one shape add up to.
struct RankFold {
  struct Kernel {
    KernelRow row;
    uint32_t number = 0;  // in order of first occurrence
  };
  std::map<std::tuple<std::string, Category, std::string>, Kernel> kernels;
  std::map<std::tuple<std::string, Category>, FamilyRow> families;
  std::map<std::tuple<std::string, Category>, RuleHits> rule_hits;
  std::array<Amounts, kCategoryCount> categories{};
  std::array<HistogramBucket, 63> histogram{};
  Coverage coverage;
  Distribution launch_leads;
};

/// What stays of a rank.
struct RankPart {
  Provenance source;
  DeviceTotals device;
  RankRow row;
  std::vector<Step> steps;
  StepGroup group;  // that was accounted
  uint32_t group_index = 0;
  Evidence evidence = Evidence::kWholeTrace;
  std::string how, cross_check;
  bool cross_check_agrees = true;
  std::vector<std::string> notes;
  std::vector<StepAmounts> step_amounts;
  Collectives collectives;  // kernels by RankFold::Kernel::number
  // Of the first rank only, since any may stand for all.
  uint32_t representative_step = 0;
  std::vector<SequenceOp> sequence;  // kernels by number, too
};

class RankSet {
 public:
  /// A ledger built with keep_samples, its rank wait not moved; of a device
  /// that no other call names.
  void Add(LedgerResult ledger);
  void Merge(RankSet other);

  size_t ranks() const;
  /// Consumes the set, which must have a rank. Ranks whose work has another
  /// shape than that of most are left out, in a note. A single rank comes out
  /// as a ledger of its own, its rank wait a bound. Throws ContractError.
  LedgerResult Finish(const std::string& label) &&;

  /// By shape: for writing a set to a file.
  struct Shape {
    RankFold fold;
    std::vector<RankPart> parts;
  };
  std::map<ShapeKey, Shape>& shapes() { return shapes_; }

 private:
  std::map<ShapeKey, Shape> shapes_;
};

}  // namespace inferdiff
