// SPDX-License-Identifier: Apache-2.0
#include "compare/dive.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/number.h"
#include "base/text.h"
#include "compare/gap.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

bool Contains(const CategoryGroup& group, Category category) {
  return std::count(group.members.begin(), group.members.end(), category) > 0;
}

/// One sentence on how a side does the category's work: fused or separate.
std::string HowDone(const SideView& side, const SideAmounts& whole,
                    const std::vector<FamilyAmounts>& kernels) {
  if (kernels.empty() && side.ledger.published)
    return fmt::format("{} is a table: it tells no kernels.", side.name());
  if (kernels.empty())
    return fmt::format("{} runs nothing of it.", side.name());
  const Rational count = side.totals.PerStep(whole.count);
  const FamilyAmounts& first = kernels.front();
  const std::string share =
      Share({first.amounts.attributed_ns, 1}, {whole.attributed_ns, 1}, 0);
  if (kernels.size() == 1) {
    return fmt::format("{} does it in one kernel, {}, {} times a step.",
                       side.name(), Quoted(first.family), Decimal(count, 0));
  }
  // Nine tenths in one family: the rest is preparation.
  if (AtLeastPercent({first.amounts.attributed_ns, 1}, {whole.attributed_ns, 1},
                     90)) {
    return fmt::format(
        "{} does {} of it in one kernel, {}, {} times a step; {} more "
        "operations prepare or finish it.",
        side.name(), share, Quoted(first.family),
        Decimal(side.totals.PerStep(first.amounts.count), 0),
        Decimal(side.totals.PerStep(whole.count - first.amounts.count), 0));
  }
  return fmt::format(
      "{} splits it over {} kernel families, {} operations a step; the "
      "largest, {}, is {} of it.",
      side.name(), kernels.size(), Decimal(count, 0), Quoted(first.family),
      share);
}

std::string TimeAndShare(const SideView& side, const SideAmounts& amounts) {
  const Rational time = side.totals.PerStep(amounts.attributed_ns);
  return fmt::format("{} on {} ({} of its step)", Duration(time), side.name(),
                     Share(time, side.headline(), 1));
}

}  // namespace

std::vector<FamilyAmounts> FamiliesOf(const LedgerResult& ledger,
                                      const SideTotals& totals,
                                      const CategoryGroup* group) {
  std::map<std::pair<std::string, Category>, FamilyAmounts> families;
  std::map<std::pair<std::string, Category>, int64_t> largest;
  for (size_t i = 0; i < ledger.kernels.size(); ++i) {
    const KernelRow& kernel = ledger.kernels[i];
    const SideAmounts& amounts = totals.kernels.at(i);
    if (amounts.count == 0) continue;
    if (group != nullptr && !Contains(*group, kernel.category)) continue;
    const auto key = std::pair{kernel.family, kernel.category};
    FamilyAmounts& row = families[key];
    row.family = kernel.family;
    row.category = kernel.category;
    row.amounts += amounts;
    if (row.example.empty() || amounts.attributed_ns > largest[key]) {
      row.example = kernel.name;
      largest[key] = amounts.attributed_ns;
    }
  }
  std::vector<FamilyAmounts> rows;
  for (auto& [key, row] : families) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return x.amounts.attributed_ns > y.amounts.attributed_ns;
  });
  return rows;
}

CategoryDive DiveInto(const CategoryGroup& group, const CompareResult& result) {
  CategoryDive dive;
  dive.title = group.title;
  dive.whole = CompareGroup(group, result.a_totals, result.b_totals);
  dive.a = FamiliesOf(result.a, result.a_totals, &group);
  dive.b = FamiliesOf(result.b, result.b_totals, &group);
  const SideView a = ViewOf(result, Side::kA);
  const SideView b = ViewOf(result, Side::kB);
  dive.sentences.push_back(fmt::format("{} takes {} and {}.", group.title,
                                       TimeAndShare(a, dive.whole.a),
                                       TimeAndShare(b, dive.whole.b)));
  dive.sentences.push_back(HowDone(a, dive.whole.a, dive.a));
  dive.sentences.push_back(HowDone(b, dive.whole.b, dive.b));
  return dive;
}

}  // namespace inferdiff
