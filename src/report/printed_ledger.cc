// SPDX-License-Identifier: Apache-2.0
#include "report/printed_ledger.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace inferdiff {

PrintedLedger PrintLedger(const LedgerResult& ledger, int64_t steps,
                          Precision precision) {
  PrintedLedger printed;
  printed.step = RoundParts(TotalsOf(ledger.per_step), steps, precision);
  std::vector<Rational> times, hidden;
  for (const Amounts& row : ledger.categories) {
    times.push_back({row.attributed_ns, steps});
    hidden.push_back({row.hidden_ns(), steps});
  }
  const std::vector<size_t> one(kCategoryCount, 0);
  const std::vector<int64_t> by_category =
      ApportionWithin(times, one, {printed.step.busy}, precision);
  std::copy(by_category.begin(), by_category.end(), printed.times.begin());
  const std::vector<int64_t> hidden_digits =
      ApportionWithin(hidden, one, {printed.step.hidden}, precision);
  std::copy(hidden_digits.begin(), hidden_digits.end(), printed.hidden.begin());

  std::map<std::pair<std::string_view, Category>, size_t> index;
  std::vector<size_t> category_of, family_of;
  times.clear();
  for (const FamilyRow& family : ledger.families) {
    index.emplace(std::pair{std::string_view(family.family), family.category},
                  times.size());
    times.push_back({family.amounts.attributed_ns, steps});
    category_of.push_back(static_cast<size_t>(family.category));
  }
  printed.families =
      ApportionWithin(times, category_of, by_category, precision);
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
