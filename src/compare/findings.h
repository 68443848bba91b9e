// SPDX-License-Identifier: Apache-2.0
// What a careful engineer would say about the tables, each sentence with its
// figures and how they are known. Nothing is said where nothing is there.
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// Findings of one kind, as they are found.
class FindingList {
 public:
  explicit FindingList(FindingKind kind) : kind_(kind) {}

  Finding& Add(std::string id, std::string text,
               HowKnown how = HowKnown::kMeasured) {
    findings_.push_back({std::move(id), std::move(text), kind_, how, {}});
    return findings_.back();
  }
  /// Of one side: the id gets its name, "host-bound.A".
  Finding& Add(std::string_view id, Side side, std::string text,
               HowKnown how = HowKnown::kMeasured) {
    return Add(std::string(id) + '.' + std::string(NameOf(side)),
               std::move(text), how);
  }
  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  FindingKind kind_;
  std::vector<Finding> findings_;
};

/// Calls of a collective far beyond its median look like waiting: a transfer
/// of the same size takes the same time.
struct Wait {
  const KernelRow* kernel = nullptr;
  Rational excess;  // ns a step that its calls take beyond the median
};
/// The collective that waits most, if one does. An estimate.
std::optional<Wait> FindWait(const LedgerResult& ledger);

/// Who is faster and by how much, and what makes most of the gap.
void FindSpeed(const CompareResult& result, FindingList* out);
void FindContributors(const CompareResult& result, FindingList* out);

/// What the comparison shows; empty where the verdict is "no".
std::vector<Finding> FindResults(const CompareResult& result);

/// What speaks against reading too much into it.
std::vector<Finding> FindDoubts(const CompareResult& result);

/// Do the walls of single steps overlap (10th to 90th percentile)? Then the
/// difference of the means is less than what steps differ by anyway.
bool WithinSpread(const CompareResult& result);

std::vector<GapPart> PartsOfGap(const CompareResult& result);

}  // namespace inferdiff
