// SPDX-License-Identifier: Apache-2.0
#include "compare/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/decimal.h"
#include "base/number.h"
#include "base/text.h"

namespace inferdiff {
namespace {

/// A figure, or why it is not known.
struct Figure {
  std::optional<Rational> value;
  Rational step{0, 1};  // of which a bound in % is a share; 0: none
  std::string unknown = {};
};

Figure Unknown(std::string why) { return {{}, {0, 1}, std::move(why)}; }

bool Holds(Gate::Op op, int order) {
  switch (op) {
    case Gate::Op::kAbove:
      return order > 0;
    case Gate::Op::kNotBelow:
      return order >= 0;
    case Gate::Op::kBelow:
      return order < 0;
    case Gate::Op::kNotAbove:
      return order <= 0;
  }
  return false;
}

/// In the bound's unit; three places more than people write.
std::string ValueText(const Gate& gate, const Figure& figure) {
  if (gate.percent) {
    const Rational whole =
        gate.unit == GateUnit::kTime ? figure.step : Rational{1, 1};
    return Percent(*figure.value, whole, 3) + " %";
  }
  if (gate.unit != GateUnit::kTime) return Decimal(*figure.value, 4);
  const Rational one = *ParseDuration(fmt::format("1{}", gate.bound_unit));
  return fmt::format("{} {}", Decimal(*figure.value, 3, one.num),
                     gate.bound_unit);
}

/// A sentence where the gate fails.
std::optional<std::string> Check(const Gate& gate, const Figure& figure) {
  const std::string head = fmt::format("gate failed: {}", Printable(gate.text));
  if (!figure.value)
    return fmt::format("{}: not known: {}", head, figure.unknown);
  Rational bound = gate.bound;
  if (gate.percent && gate.unit == GateUnit::kTime) {
    if (figure.step.num == 0)
      return fmt::format("{}: not known: the step takes no time", head);
    bound = bound * figure.step;
  }
  if (!Holds(gate.op, Compare(*figure.value, bound))) return std::nullopt;
  return fmt::format("{}: it is {}", head, ValueText(gate, figure));
}

// --- figures that both results have ------------------------------------------

using Ledgers = std::vector<const LedgerResult*>;

/// The larger of the sides: neither may hide behind the other.
Figure CoverageFigure(const Ledgers& ledgers, const std::string& name) {
  Rational most{0, 1};
  for (const LedgerResult* ledger : ledgers) {
    const Coverage& coverage = ledger->coverage;
    Rational one{static_cast<int64_t>(coverage.dropped_records), 1};
    if (name != "dropped_records") {
      if (coverage.total_ns == 0)
        return Unknown("a side does not tell single operations");
      one = {name == "other" ? coverage.other_ns : coverage.unclassified_ns,
             coverage.total_ns};
    }
    most = std::max(most, one);
  }
  return {most};
}

Figure IntegrityFigure(const Ledgers& ledgers, const std::string& name) {
  int64_t count = 0;
  for (const LedgerResult* ledger : ledgers) {
    for (const CaptureCheck& check : ledger->capture_checks) {
      count += name == "checks" ||
                       (name == "reservations" &&
                        check.weight == Weight::kReservation) ||
                       (name == "refusals" && check.weight == Weight::kRefusal)
                   ? 1
                   : 0;
    }
  }
  return {Rational{count, 1}};
}

/// Where a capture is refused its figures mean nothing.
std::optional<Figure> Refused(const Ledgers& ledgers) {
  for (const LedgerResult* ledger : ledgers) {
    for (const CaptureCheck& check : ledger->capture_checks) {
      if (check.weight != Weight::kRefusal) continue;
      return Unknown(fmt::format("the figures of a capture are refused: {}",
                                 TitleOf(check.kind)));
    }
  }
  return std::nullopt;
}

// --- a comparison -----------------------------------------------------------

const std::string kBoundOnly =
    "from one rank's trace waiting is only bounded: name the set's traces";

/// One side's figure of a step, mean; of a category where `row` is given.
struct SideFigure {
  const SideTotals& side;
  bool has_wall = true;

  Figure Of(const std::string& name) const {
    const SideAmounts& all = side.all;
    if (name == "wall") return Mean(side.headline_ns);
    if (name == "busy") return Mean(all.attributed_ns);
    if (name == "foreign") return Mean(side.foreign_ns);
    if (name == "rank_wait") {
      if (!IsMeasured(side.wait_basis)) return Unknown(kBoundOnly);
      return Mean(side.rank_wait.attributed_ns);
    }
    if (name == "idle") {
      if (!has_wall) return Unknown("no side's steps have a wall time");
      return Mean(side.idle_inside_ns + side.idle_outside_ns);
    }
    return OfAmounts(all, name);
  }

  Figure OfAmounts(const SideAmounts& amounts, const std::string& name) const {
    if (name == "sum") {
      if (!side.sums_known) return Unknown("the table does not tell sums");
      return Mean(amounts.sum_ns);
    }
    if (name == "ops") {
      if (!side.counts_known) return Unknown("the table does not tell counts");
      return Mean(amounts.count);
    }
    return Mean(amounts.attributed_ns);
  }

  Figure Mean(int64_t total) const {
    return {side.PerStep(total), side.PerStep(side.headline_ns)};
  }
};

Figure FormOf(const std::string& form, const Figure& a, const Figure& b) {
  if (form == "a") return a;
  if (form == "b") return b;
  if (!a.value) return Unknown("A: " + a.unknown);
  if (!b.value) return Unknown("B: " + b.unknown);
  if (form == "gap") return {*b.value - *a.value, a.step};
  if (a.value->num == 0) return Unknown("A has none, so there is no ratio");
  Rational inverse{a.value->den, a.value->num};
  if (inverse.den < 0) inverse = {-inverse.num, -inverse.den};
  return {*b.value * inverse};
}

const CategoryComparison* FindRow(const CompareResult& result,
                                  const std::string& id) {
  for (const GroupComparison& group : result.groups) {
    if (group.whole.id == id) return &group.whole;
    for (const CategoryComparison& part : group.parts)
      if (part.id == id) return &part;
  }
  return nullptr;
}

/// A category that a side lacks has gone, or its kernels are classified
/// otherwise now: no gate can tell.
Figure CategoryFigure(const CompareResult& result, const Gate& gate) {
  const CategoryComparison* row = FindRow(result, gate.path[1]);
  if (row == nullptr) return Unknown("neither side has the category");
  const std::string& form = gate.path.back();
  const std::string what = gate.path.size() == 4 ? gate.path[2] : "";
  const auto side = [&](std::string_view name, const SideTotals& totals,
                        const SideAmounts& amounts) {
    if (totals.counts_known ? amounts.count == 0 : amounts.attributed_ns == 0)
      return Unknown(fmt::format("{} does not have the category", name));
    return SideFigure{totals}.OfAmounts(amounts, what);
  };
  const Figure a = side("A", result.a_totals, row->a);
  const Figure b = side("B", result.b_totals, row->b);
  if (!a.value && form != "b") return a;
  if (!b.value && form != "a") return b;
  return FormOf(form, a, b);
}

Figure GapFigure(const CompareResult& result, const std::string& name) {
  const Gap& gap = result.gap;
  const Rational a = gap.a_total;
  if (name == "wall") return {gap.total, a};
  if (name == "foreign") return {gap.foreign, a};
  if (name == "untraced") {
    if (!result.untraced.a || !result.untraced.b)
      return Unknown("--untraced-a and --untraced-b are not both given");
    return {Rational{*result.untraced.b, 1} - Rational{*result.untraced.a, 1},
            {*result.untraced.a, 1}};
  }
  if (name == "rank_wait") {
    const HowKnown how =
        WaitDifference(result.a_totals.wait_basis, result.b_totals.wait_basis);
    if (how != HowKnown::kMeasured) return Unknown(kBoundOnly);
    return {gap.rank_wait, a};
  }
  if (name == "idle") {
    if (gap.basis != Basis::kWall)
      return Unknown("no side's steps have a wall time");
    return {gap.idle, a};
  }
  if (!gap.concurrency_known)
    return Unknown(
        "a table does not tell sums, so work and concurrency are "
        "not apart");
  return {name == "work" ? gap.work : gap.concurrency, a};
}

/// Figures that hold one side against the other.
bool IsDifference(const Gate& gate) {
  return gate.path[0] == "gap" || gate.path.back() == "gap" ||
         gate.path.back() == "ratio";
}

Figure FigureOf(const Gate& gate, const CompareResult& result) {
  const std::string& head = gate.path[0];
  if (head == "coverage")
    return CoverageFigure({&result.a, &result.b}, gate.path[1]);
  if (head == "integrity")
    return IntegrityFigure({&result.a, &result.b}, gate.path[1]);
  if (auto refused = Refused({&result.a, &result.b}))
    return *std::move(refused);
  const ComparableResult& comparable = result.comparable;
  if (comparable.verdict == Comparability::kNo && IsDifference(gate)) {
    return Unknown(
        "the sides cannot be compared: " +
        (comparable.reasons.empty() ? std::string() : comparable.reasons[0]));
  }
  if (head == "gap") return GapFigure(result, gate.path[1]);
  if (head == "category") return CategoryFigure(result, gate);
  const bool wall = result.gap.basis == Basis::kWall;
  return FormOf(gate.path[2],
                SideFigure{result.a_totals, wall}.Of(gate.path[1]),
                SideFigure{result.b_totals, wall}.Of(gate.path[1]));
}

// --- a ledger ---------------------------------------------------------------

Figure StepFigure(const LedgerResult& ledger, const std::string& name) {
  const PerStep& per_step = ledger.per_step;
  const Rational wall =
      per_step.wall.n > 0 ? per_step.wall.mean() : Rational{0, 1};
  const auto mean = [&](const Stat& stat) {
    if (stat.n == 0) return Unknown("the steps do not tell it");
    return Figure{stat.mean(), wall};
  };
  if (name == "wall") return mean(per_step.wall);
  if (name == "busy") return mean(per_step.busy);
  if (name == "sum") return mean(per_step.sum);
  if (name == "idle") return mean(per_step.idle);
  if (name == "foreign") return mean(per_step.foreign);
  if (name == "rank_wait") {
    if (!IsMeasured(ledger.wait_basis)) return Unknown(kBoundOnly);
    return mean(per_step.rank_wait);
  }
  int64_t ops = 0;
  for (const StepAmounts& step : ledger.step_amounts) ops += step.ops;
  if (ledger.used_steps == 0) return Unknown("no step is used");
  return {Rational{ops, ledger.used_steps}, wall};
}

Figure CategoryFigure(const LedgerResult& ledger, const Gate& gate) {
  if (ledger.used_steps == 0) return Unknown("no step is used");
  Amounts amounts;
  const auto group = FindCategoryGroup(gate.path[1]);
  for (const Category member : group->members)
    amounts.Add(ledger.categories[static_cast<size_t>(member)]);
  if (amounts.count == 0) return Unknown("no step has the category");
  const int64_t steps = ledger.used_steps;
  const Rational wall{ledger.per_step.wall.total, steps};
  const std::string what = gate.path.size() == 3 ? gate.path[2] : "";
  if (what == "ops") return {Rational{amounts.count, steps}};
  return {
      Rational{what == "sum" ? amounts.sum_ns : amounts.attributed_ns, steps},
      wall};
}

Figure FigureOf(const Gate& gate, const LedgerResult& ledger) {
  const std::string& head = gate.path[0];
  if (head == "coverage") return CoverageFigure({&ledger}, gate.path[1]);
  if (head == "integrity") return IntegrityFigure({&ledger}, gate.path[1]);
  if (auto refused = Refused({&ledger})) return *std::move(refused);
  if (head == "category") return CategoryFigure(ledger, gate);
  return StepFigure(ledger, gate.path[1]);
}

template <typename Result>
std::vector<std::string> CheckAll(const std::vector<Gate>& gates,
                                  const Result& result) {
  std::vector<std::string> failed;
  for (const Gate& gate : gates) {
    if (auto sentence = Check(gate, FigureOf(gate, result)))
      failed.push_back(*std::move(sentence));
  }
  return failed;
}

}  // namespace

std::vector<std::string> FailedGates(const std::vector<Gate>& gates,
                                     const CompareResult& result) {
  return CheckAll(gates, result);
}

std::vector<std::string> FailedGates(const std::vector<Gate>& gates,
                                     const LedgerResult& ledger) {
  return CheckAll(gates, ledger);
}

}  // namespace inferdiff
