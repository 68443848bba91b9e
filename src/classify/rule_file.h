// SPDX-License-Identifier: Apache-2.0
// The TOML of rules/kernels*.toml, rules/context.toml and of a user's rules.
// docs/rules.md describes the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "classify/category.h"
#include "classify/classify.h"

namespace inferdiff {

/// A name as a trace writes it, and where to read what the kernel computes.
struct CheckedExample {
  std::string name;
  std::string repository;  // "ROCm/aiter", on GitHub
  std::string path;        // "csrc/kernels/cache_kernels.cu"
  std::string function;    // the kernel's own name, a part of `name`
  Vendor vendor = Vendor::kUnknown;
};

/// What a rule's patterns are searched in.
enum class NamePart {
  kHead,   // the name up to its first '<' or '('
  kFull,   // all of it
  kWords,  // its words, where no rule of the other two matches
};

/// One [[rule]]. Any of `patterns` matches its part of a name.
struct NameRule {
  RuleInfo info;
  std::vector<std::string> patterns;
  NamePart part = NamePart::kHead;
  std::vector<std::string> examples;
  std::vector<std::string> counter_examples;
  std::vector<CheckedExample> checked;
};

/// A set of categories, one bit each.
using CategorySet = uint32_t;
inline constexpr CategorySet SetOf(Category category) {
  return CategorySet{1} << static_cast<unsigned>(category);
}
inline constexpr bool Has(CategorySet set, Category category) {
  return (set & SetOf(category)) != 0;
}
static_assert(kCategoryCount <= 32);

/// A kernel sequence on one lane and which of its ops the rule changes.
struct ContextExample {
  std::vector<std::string> ops;
  std::vector<size_t> changes;  // index in ops
};

/// One [[context]]. An empty condition (0) always holds.
struct ContextRule {
  RuleInfo info;                   // category is what the op becomes
  std::vector<std::string> rules;  // ids of name rules it applies to
  CategorySet categories = 0;      // or all names of these categories
  bool inherits_gemm = false;      // becomes what the last GEMM became
  CategorySet left = 0, right = 0, after = 0;
  CategorySet not_left = 0, not_after = 0;
  Category near = Category::kCount, not_near = Category::kCount;
  uint32_t within = 0;                   // ops on the lane, for the two above
  Category share_of = Category::kCount;  // a condition on the whole trace
  uint32_t percent = 0;
  std::string requires_rule;  // an earlier rule with share_of that holds
  std::vector<ContextExample> examples;
};

struct ContextRules {
  CategorySet beside_skips = 0;         // what `left` and `right` look past
  CategorySet after_skips = 0;          // what `after` looks past
  std::vector<std::string> tail_rules;  // looked past always
  std::vector<ContextRule> rules;
};

/// Throws InputError "bad-rules" with the line, a caret and a fix.
std::vector<NameRule> ParseNameRules(std::string_view toml,
                                     const std::string& path);
ContextRules ParseContextRules(std::string_view toml, const std::string& path);

}  // namespace inferdiff
