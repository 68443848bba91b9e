// SPDX-License-Identifier: Apache-2.0
// Categories that people ask for together: "how long did MoE take".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classify/category.h"

namespace inferdiff {

struct CategoryGroup {
  std::string id;     // "moe"
  std::string title;  // "MoE"
  std::vector<Category> members;
};

/// Every category is in exactly one group; single ones are named as they are.
const std::vector<CategoryGroup>& CategoryGroups();

/// A group or a single category by id or title; "comm", "gemm" and "quant" are
/// accepted for what they mean.
std::optional<CategoryGroup> FindCategoryGroup(std::string_view name);

}  // namespace inferdiff
