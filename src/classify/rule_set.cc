// SPDX-License-Identifier: Apache-2.0
#include "classify/rule_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/embedded_text.h"
#include "base/error.h"
#include "classify/kernel_name.h"

namespace inferdiff {
namespace {

/// Heads that say nothing: what the kernel is stands in its arguments.
constexpr std::array<std::string_view, 5> kContainers = {
    "cutlass::device_kernel", "cutlass::Kernel", "cutlass::Kernel2",
    "ck_tile::kentry", "kernel"};

uint64_t Fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

/// The text of rules/kernels*.toml in file order, and of context.toml.
struct RuleTexts {
  std::vector<std::string_view> kernels;
  std::string_view context;
};

RuleTexts EmbeddedRuleTexts() {
  RuleTexts texts;
  std::vector<EmbeddedText> files = embedded_rules();
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const EmbeddedText& file : files) {
    if (file.name.starts_with("kernels")) texts.kernels.push_back(file.text);
    if (file.name == "context.toml") texts.context = file.text;
  }
  return texts;
}

}  // namespace

RuleSet::RuleSet() : impl_(std::make_unique<Impl>()) {}
RuleSet::RuleSet(RuleSet&&) noexcept = default;
RuleSet::~RuleSet() = default;

const std::vector<RuleInfo>& RuleSet::rules() const { return impl_->infos; }
const std::string& RuleSet::hash() const { return impl_->hash; }

namespace {

RuleId AddBuiltIn(std::vector<RuleInfo>* infos, const char* id, const char* why,
                  Category category) {
  RuleInfo info;
  info.id = id;
  info.why = why;
  info.category = category;
  infos->push_back(std::move(info));
  return static_cast<RuleId>(infos->size() - 1);
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

PatternList& RuleSet::Impl::ListOf(NamePart part) {
  if (part == NamePart::kWords) return words;
  return part == NamePart::kFull ? full : head;
}

/// From the surest evidence to the weakest, as docs/rules.md lists it.
RuleId RuleSet::Impl::RuleOf(std::string_view head_text,
                             std::string_view text) const {
  const bool has_more = head_text.size() < text.size();
  RuleId rule = std::min(head.First(head_text), full.First(text));
  const auto none = [&rule] { return rule == PatternList::kNone; };
  if (none()) rule = words.First(WordsOf(head_text));
  if (none() && has_more) rule = head.First(text);
  if (none() && has_more) rule = words.First(WordsOf(text));
  return none() ? no_rule : rule;
}

void RuleSet::Impl::AddNameRules(std::vector<NameRule> rules) {
  for (NameRule& rule : rules) {
    const auto id = static_cast<RuleId>(infos.size());
    if (id >= kMaxRules) {
      throw InputError("bad-rules", "", "more than 30000 rules",
                       "merge rules of one category with '|'");
    }
    for (const std::string& pattern : rule.patterns) {
      ListOf(rule.part).Add(pattern, id);
    }
    infos.push_back(std::move(rule.info));
  }
}

void RuleSet::Impl::AddContextRules(ContextRules rules) {
  context = std::move(rules);
  if (context.rules.size() > 32) {
    throw ContractError("more than 32 context rules");
  }
  is_tail.resize(infos.size());
  context_of_rule.resize(infos.size());
  for (size_t n = 0; n < infos.size(); ++n) {
    is_tail[n] = Contains(context.tail_rules, infos[n].id);
    for (size_t c = 0; c < context.rules.size(); ++c) {
      const ContextRule& rule = context.rules[c];
      if (Has(rule.categories, infos[n].category) ||
          Contains(rule.rules, infos[n].id)) {
        context_of_rule[n] |= uint32_t{1} << c;
      }
    }
  }
  first_context = static_cast<RuleId>(infos.size());
  for (const ContextRule& rule : context.rules) infos.push_back(rule.info);
}

void RuleSet::Impl::Finish() {
  memcpy_rule =
      AddBuiltIn(&infos, "op-memcpy", "the trace records this op as a copy",
                 Category::kMemcpy);
  memset_rule =
      AddBuiltIn(&infos, "op-memset", "the trace records this op as a memset",
                 Category::kMemset);
  no_rule = AddBuiltIn(&infos, "no-rule", "no rule matches this name",
                       Category::kUnclassified);
}

RuleSet RuleSet::Load(std::string_view user_toml,
                      const std::string& user_path) {
  RuleSet set;
  Impl& impl = *set.impl_;
  uint64_t hash = 0xcbf29ce484222325U;
  if (!user_toml.empty()) {
    impl.AddNameRules(ParseNameRules(user_toml, user_path));
    hash = Fnv1a(user_toml, hash);
  }
  const RuleTexts texts = EmbeddedRuleTexts();
  for (const std::string_view text : texts.kernels) {
    impl.AddNameRules(ParseNameRules(text, {}));
    hash = Fnv1a(text, hash);
  }
  impl.AddContextRules(ParseContextRules(texts.context, {}));
  hash = Fnv1a(texts.context, hash);
  impl.hash = fmt::format("{:016x}", hash);
  impl.Finish();
  return set;
}

NameClass RuleSet::ClassifyName(std::string_view name) const {
  NameClass result;
  result.display = DisplayName(name);
  result.family = Family(result.display);
  const std::string text = WithoutAnonymous(result.display);
  std::string_view head = std::string_view(text).substr(0, HeadLength(text));
  if (std::find(kContainers.begin(), kContainers.end(), head) !=
      kContainers.end()) {
    head = text;
  }
  result.rule = impl_->RuleOf(head, text);
  result.category = impl_->infos[result.rule].category;
  return result;
}

}  // namespace inferdiff
