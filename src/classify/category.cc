// SPDX-License-Identifier: Apache-2.0
#include "classify/category.h"

#include <array>

#include "base/text.h"

namespace inferdiff {
namespace {

struct Names {
  std::string_view id, title;
};

constexpr std::array<Names, kCategoryCount> kNames = {{
#define X(constant, id, title) {id, title},
    INFERDIFF_CATEGORIES(X)
#undef X
}};

}  // namespace

std::string_view IdOf(Category category) {
  return kNames[static_cast<size_t>(category)].id;
}

std::string_view TitleOf(Category category) {
  return kNames[static_cast<size_t>(category)].title;
}

std::optional<Category> CategoryFromId(std::string_view id) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].id == id) return static_cast<Category>(i);
  }
  return std::nullopt;
}

std::optional<Category> CategoryFromName(std::string_view name) {
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (SameName(name, IdOf(category)) || SameName(name, TitleOf(category)))
      return category;
  }
  return std::nullopt;
}

}  // namespace inferdiff
