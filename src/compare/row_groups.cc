// SPDX-License-Identifier: Apache-2.0
#include "compare/row_groups.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace inferdiff {
namespace {

/// Categories that a row of some table has together belong together.
class Partition {
 public:
  Partition() { std::iota(parent_.begin(), parent_.end(), size_t{0}); }

  void Join(const std::vector<Category>& row) {
    for (const Category one : row) parent_[Root(one)] = Root(row[0]);
  }
  size_t Root(Category category) {
    auto at = static_cast<size_t>(category);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

 private:
  std::array<size_t, kCategoryCount> parent_;
};

/// The id of the default group of the same categories, or of the first one.
std::string IdOfMembers(std::vector<Category> members) {
  const Category first = members[0];
  std::sort(members.begin(), members.end());
  for (const CategoryGroup& group : CategoryGroups()) {
    std::vector<Category> others = group.members;
    std::sort(others.begin(), others.end());
    if (others == members) return group.id;
  }
  return std::string(IdOf(first));
}

void AddTitle(const std::string& title, std::string* titles) {
  if (titles->empty())
    *titles = title;
  else
    *titles += " + " + title;
}

}  // namespace

std::vector<CategoryGroup> RowGroups(
    const std::vector<const LedgerResult*>& ledgers) {
  Partition partition;
  const PublishedTable* first = nullptr;
  for (const LedgerResult* ledger : ledgers) {
    if (!ledger->published) continue;
    if (first == nullptr) first = &*ledger->published;
    for (const PublishedRow& row : ledger->published->rows)
      if (!row.categories.empty()) partition.Join(row.categories);
  }
  if (first == nullptr) return CategoryGroups();
  // A table's rows stand for every category: so the groups have names.
  std::vector<CategoryGroup> groups;
  std::array<size_t, kCategoryCount> group_of;
  group_of.fill(kCategoryCount);
  for (const PublishedRow& row : first->rows) {
    if (row.categories.empty()) continue;
    size_t& group = group_of[partition.Root(row.categories[0])];
    if (group == kCategoryCount) {
      group = groups.size();
      groups.emplace_back();
    }
    AddTitle(row.title, &groups[group].title);
    groups[group].members.insert(groups[group].members.end(),
                                 row.categories.begin(), row.categories.end());
  }
  for (CategoryGroup& group : groups) group.id = IdOfMembers(group.members);
  return groups;
}

}  // namespace inferdiff
