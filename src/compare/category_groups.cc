// SPDX-License-Identifier: Apache-2.0
#include "compare/category_groups.h"

#include <algorithm>

#include "base/text.h"

namespace inferdiff {
namespace {

std::vector<CategoryGroup> AllGroups() {
  std::vector<CategoryGroup> groups = {
      {"moe",
       "MoE",
       {Category::kMoeGemm, Category::kMoeRouting, Category::kMoeQuantAct}},
      {"attention",
       "attention",
       {Category::kAttention, Category::kAttentionIndexer,
        Category::kKvCacheWrite}},
      {"copies", "copies + memsets", {Category::kMemcpy, Category::kMemset}},
  };
  const auto grouped = [&groups](Category category) {
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
      return std::count(group.members.begin(), group.members.end(), category) >
             0;
    });
  };
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (!grouped(category))
      groups.push_back({std::string(IdOf(category)),
                        std::string(TitleOf(category)),
                        {category}});
  }
  return groups;
}

}  // namespace

const std::vector<CategoryGroup>& CategoryGroups() {
  static const std::vector<CategoryGroup> kGroups = AllGroups();
  return kGroups;
}

std::optional<CategoryGroup> FindCategoryGroup(std::string_view name) {
  if (name == "comm") name = "communication";
  if (name == "gemm") name = "dense_gemm";
  if (name == "quant") name = "quantization";
  for (const CategoryGroup& group : CategoryGroups()) {
    if (SameName(name, group.id) || SameName(name, group.title)) return group;
  }
  // "attention" is the group; its parts have names of their own.
  if (const auto category = CategoryFromName(name))
    return CategoryGroup{std::string(IdOf(*category)),
                         std::string(TitleOf(*category)),
                         {*category}};
  return std::nullopt;
}

}  // namespace inferdiff
