// SPDX-License-Identifier: Apache-2.0
#include "report/printed_categories.h"

namespace inferdiff {
namespace {

using Totals = std::array<CategoryTotal, kCategoryCount>;

// One kind of time of all categories: first of the groups and rank wait, then
// within the groups. Returns that of rank wait.
int64_t Split(const Totals& totals,
              const std::vector<CategoryGroup>& category_groups,
              const CategoryTotal& rank_wait, int64_t CategoryTotal::*member,
              int64_t whole, int64_t steps, Precision precision,
              std::vector<int64_t>* groups,
              std::array<int64_t, kCategoryCount>* categories) {
  std::vector<Rational> of_group, of_category;
  std::vector<size_t> category, group_of;
  for (const CategoryGroup& group : category_groups) {
    Rational sum{0, steps};
    for (const Category one : group.members) {
      category.push_back(static_cast<size_t>(one));
      group_of.push_back(of_group.size());
      of_category.push_back({totals[category.back()].*member, steps});
      sum.num += of_category.back().num;
    }
    of_group.push_back(sum);
  }
  of_group.push_back({rank_wait.*member, steps});
  *groups = ApportionWithin(of_group, std::vector<size_t>(of_group.size(), 0),
                            {whole}, precision);
  const int64_t wait = groups->back();
  groups->pop_back();
  const std::vector<int64_t> digits =
      ApportionWithin(of_category, group_of, *groups, precision);
  for (size_t i = 0; i < digits.size(); ++i)
    (*categories)[category[i]] = digits[i];
  return wait;
}

}  // namespace

PrintedCategories PrintCategories(const Totals& totals,
                                  const std::vector<CategoryGroup>& groups,
                                  const CategoryTotal& rank_wait, int64_t steps,
                                  const StepParts& step, Precision precision) {
  PrintedCategories printed;
  printed.wait_time =
      Split(totals, groups, rank_wait, &CategoryTotal::attributed_ns, step.busy,
            steps, precision, &printed.group_times, &printed.times);
  printed.wait_hidden =
      Split(totals, groups, rank_wait, &CategoryTotal::hidden_ns, step.hidden,
            steps, precision, &printed.group_hidden, &printed.hidden);
  return printed;
}

}  // namespace inferdiff
