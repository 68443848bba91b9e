// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include <algorithm>
#include <utility>

#include "compare/causes.h"
#include "compare/dive.h"
#include "compare/findings.h"
#include "compare/gap.h"
#include "compare/role_dive.h"
#include "compare/row_groups.h"
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

namespace {

std::vector<const LedgerResult*> Ledgers(const CompareResult& result) {
  std::vector<const LedgerResult*> ledgers = {&result.a, &result.b};
  if (result.serial_a) ledgers.push_back(&*result.serial_a);
  if (result.serial_b) ledgers.push_back(&*result.serial_b);
  return ledgers;
}

bool HasReplays(const LedgerResult& ledger) {
  return ReplayShare(ledger).num > 0 || ledger.per_step.idle_inside.total > 0;
}

/// A table's rows are its categories.
void CompareRows(CompareResult* result) {
  const std::vector<const LedgerResult*> ledgers = Ledgers(*result);
  const bool table = std::any_of(
      ledgers.begin(), ledgers.end(),
      [](const LedgerResult* ledger) { return ledger->published.has_value(); });
  result->row_groups = RowGroups(ledgers);
  result->groups = CompareGroups(result->row_groups, !table, result->a_totals,
                                 result->b_totals);
  if (!table) {
    result->categories = CompareCategories(result->a_totals, result->b_totals);
    return;
  }
  for (const GroupComparison& group : result->groups)
    result->categories.push_back(group.whole);
}

}  // namespace

CompareResult Compare(LedgerResult a, const SetupFacts& facts_a, LedgerResult b,
                      const SetupFacts& facts_b, CompareOptions options) {
  CompareResult result;
  result.a = std::move(a);
  result.b = std::move(b);
  result.serial_a = std::move(options.serial_a);
  result.serial_b = std::move(options.serial_b);
  result.untraced = options.untraced;
  AddDilation(options.untraced.a, &result.a);
  AddDilation(options.untraced.b, &result.b);
  const Basis basis = ChooseBasis(Ledgers(result));
  result.a_totals = TotalsOn(basis, result.a);
  result.b_totals = TotalsOn(basis, result.b);
  result.setup = SetupTable(result.a, facts_a, result.b, facts_b);
  result.comparable = Judge(result.setup, result.a, result.b, basis);
  result.gap = SplitGap(basis, result.a_totals, result.b_totals);
  result.gap.has_replays = HasReplays(result.a) || HasReplays(result.b);
  if (options.untraced.a && options.untraced.b && basis == Basis::kWall)
    result.gap.slower =
        SlowerOf({*options.untraced.a, 1}, {*options.untraced.b, 1});
  CompareRows(&result);
  result.gap_parts =
      PartsOf(result.gap, result.groups, result.a_totals, result.b_totals);
  result.alignment = AlignSteps(result.a, result.b);
  result.causes = FindCauses(result, options);
  result.machine = FindMachine(result, options.machine_a, options.machine_b);
  result.a_families = FamiliesOf(result.a, result.a_totals, nullptr);
  result.b_families = FamiliesOf(result.b, result.b_totals, nullptr);
  result.findings = FindResults(result);
  for (Finding& doubt : FindDoubts(result))
    result.findings.push_back(std::move(doubt));
  if (options.category) result.dive = DiveInto(*options.category, result);
  if (options.role) result.role_dive = DiveIntoRole(*options.role, result);
  return result;
}

}  // namespace inferdiff
