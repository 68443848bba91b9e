// SPDX-License-Identifier: Apache-2.0
// What a careful engineer would say about the tables, each sentence with its
// figures and how they are known. Nothing is said where nothing is there.
#pragma once

#include <algorithm>
#include <string_view>

#include "compare/compare.h"

namespace inferdiff {

struct RoleExcess;  // role_excess.h

/// Findings of one kind, as they are found.
class FindingList {
 public:
  explicit FindingList(FindingKind kind) : kind_(kind) {}

  Finding& Add(std::string id, std::string text,
               HowKnown how = HowKnown::kMeasured) {
    Finding& finding = findings_.emplace_back();
    finding.id = std::move(id);
    finding.text = std::move(text);
    finding.kind = kind_;
    finding.how = how;
    return finding;
  }
  /// Of one side: the id gets its name, "host-bound.A".
  Finding& Add(std::string_view id, Side side, std::string text,
               HowKnown how = HowKnown::kMeasured) {
    return Add(std::string(id) + '.' + std::string(NameOf(side)),
               std::move(text), how);
  }
  bool HasPrize(std::string_view id) const {
    return std::any_of(findings_.begin(), findings_.end(),
                       [&](const Finding& finding) {
                         return finding.id == id && finding.prize.has_value();
                       });
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
void FindContributors(const CompareResult& result,
                      const std::vector<RoleExcess>& excesses,
                      FindingList* out);

/// What overlap, fusion and floors would bring.
void FindOverlapWorth(const CompareResult& result, FindingList* out);
void FindFusion(const CompareResult& result,
                const std::vector<RoleExcess>& excesses, FindingList* out);
void FindFloors(const CompareResult& result, FindingList* out);
/// What memory bandwidth explains of the gap.
void FindMachineShare(const CompareResult& result, FindingList* out);

/// Does attributed time have half of a difference in work, too? Beside other
/// streams kernels take longer: their durations alone make the side that
/// overlaps look slow. `work` is B - A.
bool AttributedAgrees(const CompareResult& result, const GroupComparison& group,
                      Rational work);

/// Does the slower side do this group's work in more operations, or in fewer
/// that take no longer, so that FindFusion speaks for it?
bool IsFused(const CompareResult& result, const GroupComparison& group);

/// Waiting for other ranks, collectives that nothing hides.
void FindWaits(const CompareResult& result, FindingList* out);
/// What the slower side would gain if its late rank came with the others.
std::optional<Rational> StragglerGain(const CompareResult& result);
/// Is most of what the slower side has more of this group that rank's?
bool StragglerHolds(const CompareResult& result, const GroupComparison& group);
/// Ranks whose steps are in the sums.
size_t RanksOf(const LedgerResult& ledger);

/// What the comparison shows, "where to start" first and by its prize; empty
/// where the verdict is "no".
std::vector<Finding> FindResults(const CompareResult& result);

/// What speaks against reading too much into it.
std::vector<Finding> FindDoubts(const CompareResult& result);

/// Do the walls of single steps overlap (10th to 90th percentile)? Then the
/// difference of the means is less than what steps differ by anyway.
bool WithinSpread(const CompareResult& result);

/// How a line of work begins; of time, where no sums are known.
inline constexpr std::string_view kWorkPrefix = "work: ";
inline constexpr std::string_view kTimePrefix = "time: ";

/// The waterfall of a gap whose side and replays are known: work of each group,
/// idle inside replays, rank wait, concurrency where it is known, foreign and
/// idle.
std::vector<GapPart> PartsOf(const Gap& gap,
                             const std::vector<GroupComparison>& groups,
                             const SideTotals& a, const SideTotals& b);

/// Shares of the whole, once for all places that print them.
void SetPercents(std::vector<GapPart>* parts);

}  // namespace inferdiff
