// SPDX-License-Identifier: Apache-2.0
// Inside of RuleSet: compiled name rules and the context rules over them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "classify/classify.h"
#include "classify/pattern_list.h"
#include "classify/rule_file.h"

namespace inferdiff {

struct RuleSet::Impl {
  static constexpr RuleId kMaxRules = 30000;

  void AddNameRules(std::vector<NameRule> rules);
  void AddContextRules(ContextRules rules);
  void Finish();

  std::vector<RuleInfo> infos;  // name rules, context rules, built-in rules
  std::string hash;
  ContextRules context;
  /// Per name rule: the context rules that apply to it, one bit each.
  std::vector<uint32_t> context_of_rule;
  std::vector<bool> is_tail;  // by name rule
  RuleId first_context = 0;   // index of context.rules[0] in infos
  RuleId memcpy_rule = 0, memset_rule = 0, no_rule = 0;
  PatternList head;   // scope head, on the head of a name
  PatternList full;   // scope full, on all of it
  PatternList words;  // scope words, where neither matches
  PatternList& ListOf(NamePart part);
  RuleId RuleOf(std::string_view head, std::string_view text) const;
};

}  // namespace inferdiff
