// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include "compare/dive.h"
#include "compare/findings.h"
#include "compare/gap.h"
#include "compare/setup.h"
#include "compare/side.h"
#include "ledger/amount_checks.h"

namespace inferdiff {

std::string_view IdOf(Comparability verdict) {
  switch (verdict) {
    case Comparability::kYes:
      return "yes";
    case Comparability::kWithReservations:
      return "with_reservations";
    case Comparability::kNo:
      break;
  }
  return "no";
}

std::string_view IdOf(HowKnown how) {
  switch (how) {
    case HowKnown::kMeasured:
      return "measured";
    case HowKnown::kBound:
      return "bound";
    case HowKnown::kEstimate:
      break;
  }
  return "estimate";
}

std::string_view IdOf(Basis basis) {
  switch (basis) {
    case Basis::kWall:
      return "wall";
    case Basis::kReplaySpan:
      return "replay_span";
    case Basis::kSpan:
      break;
  }
  return "span";
}

std::string_view TitleOf(Basis basis) {
  return basis == Basis::kReplaySpan ? "replay span" : IdOf(basis);
}

std::string_view NameOf(Side side) {
  switch (side) {
    case Side::kA:
      return "A";
    case Side::kB:
      return "B";
    case Side::kNeither:
      break;
  }
  return "neither";
}

std::string IdleTitle(const Gap& gap) {
  return gap.has_replays ? "idle outside replays" : "idle";
}

HowKnown WaitDifference(WaitBasis a, WaitBasis b) {
  if (IsMeasured(a) && IsMeasured(b)) return HowKnown::kMeasured;
  return IsMeasured(a) || IsMeasured(b) ? HowKnown::kBound
                                        : HowKnown::kEstimate;
}

Side Other(Side side) {
  if (side == Side::kNeither) return side;
  return side == Side::kA ? Side::kB : Side::kA;
}

CompareResult Compare(LedgerResult a, const SetupFacts& facts_a, LedgerResult b,
                      const SetupFacts& facts_b,
                      const CompareOptions& options) {
  CompareResult result;
  result.a = std::move(a);
  result.b = std::move(b);
  result.untraced = options.untraced;
  AddDilation(options.untraced.a, &result.a);
  AddDilation(options.untraced.b, &result.b);
  const Basis basis = ChooseBasis(result.a, result.b);
  result.a_totals = TotalsOn(basis, result.a);
  result.b_totals = TotalsOn(basis, result.b);
  result.setup = SetupTable(result.a, facts_a, result.b, facts_b);
  result.comparable = Judge(result.setup, result.a, result.b, basis);
  result.gap = SplitGap(basis, result.a_totals, result.b_totals);
  result.gap.has_replays =
      ReplayShare(result.a).num > 0 || ReplayShare(result.b).num > 0;
  result.categories = CompareCategories(result.a_totals, result.b_totals);
  result.groups = CompareGroups(result.a_totals, result.b_totals);
  result.gap_parts = PartsOfGap(result);
  result.a_families = FamiliesOf(result.a, result.a_totals, nullptr);
  result.b_families = FamiliesOf(result.b, result.b_totals, nullptr);
  result.findings = FindResults(result);
  for (Finding& doubt : FindDoubts(result))
    result.findings.push_back(std::move(doubt));
  if (options.category) result.dive = DiveInto(*options.category, result);
  return result;
}

}  // namespace inferdiff
