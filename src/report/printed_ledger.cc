// SPDX-License-Identifier: Apache-2.0
#include "report/printed_ledger.h"

#include <map>
#include <string>
#include <utility>

#include "report/printed_categories.h"

namespace inferdiff {

PrintedLedger PrintLedger(const LedgerResult& ledger, int64_t steps,
                          Precision precision) {
  PrintedLedger printed;
  printed.step = RoundParts(TotalsOf(ledger.per_step), steps, precision);
  std::array<CategoryTotal, kCategoryCount> totals;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const Amounts& row = ledger.categories[i];
    totals[i] = {row.attributed_ns, row.hidden_ns()};
  }
  const PrintedCategories categories = PrintCategories(
      totals, CategoryGroups(),
      {ledger.rank_wait.attributed_ns, ledger.rank_wait.hidden_ns()}, steps,
      printed.step, precision);
  printed.times = categories.times;
  printed.hidden = categories.hidden;
  printed.wait_time = categories.wait_time;
  printed.wait_hidden = categories.wait_hidden;

  std::vector<Rational> times;
  std::map<std::pair<std::string_view, Category>, size_t> index;
  std::vector<size_t> category_of, family_of;
  for (const FamilyRow& family : ledger.families) {
    index.emplace(std::pair{std::string_view(family.family), family.category},
                  times.size());
    times.push_back({family.amounts.attributed_ns, steps});
    category_of.push_back(static_cast<size_t>(family.category));
  }
  printed.families =
      ApportionWithin(times, category_of,
                      {printed.times.begin(), printed.times.end()}, precision);
  times.clear();
  for (const KernelRow& kernel : ledger.kernels) {
    times.push_back({kernel.amounts.attributed_ns, steps});
    family_of.push_back(index.at({kernel.family, kernel.category}));
  }
  printed.kernels =
      ApportionWithin(times, family_of, printed.families, precision);
  return printed;
}

}  // namespace inferdiff
