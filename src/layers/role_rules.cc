// SPDX-License-Identifier: Apache-2.0
#include "layers/role_rules.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/embedded_text.h"
#include "base/error.h"

namespace inferdiff {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Part::kCount)>
    kParts = {"prologue",     "input",   "attention", "output",
              "feed_forward", "between", "epilogue"};

/// One table of the file, its keys read and checked one by one.
class Entry {
 public:
  explicit Entry(const toml::table& table) : table_(table) {
    id_ = table["id"].value_or(std::string());
  }

  std::string Text(std::string_view key) {
    known_.emplace(key);
    return table_[key].value_or(std::string());
  }

  std::string NeededText(std::string_view key) {
    std::string text = Text(key);
    if (text.empty()) Fail(fmt::format("'{}' is missing", key));
    return text;
  }

  /// A string or an array of strings.
  std::vector<std::string> Texts(std::string_view key) {
    known_.emplace(key);
    std::vector<std::string> out;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return out;
    if (const auto one = node->value<std::string>()) return {*one};
    const toml::array* array = node->as_array();
    if (array == nullptr) Fail(fmt::format("'{}' must be text", key));
    for (const toml::node& item : *array) {
      const auto text = item.value<std::string>();
      if (!text) Fail(fmt::format("'{}' must hold text", key));
      out.push_back(*text);
    }
    return out;
  }

  std::optional<bool> Truth(std::string_view key) {
    known_.emplace(key);
    return table_[key].value<bool>();
  }

  Patterns PatternsAt(std::string_view key) {
    const std::vector<std::string> texts = Texts(key);
    if (texts.empty()) return nullptr;
    const auto list = std::make_shared<PatternList>(64);
    for (const std::string& text : texts) list->Add(text, 0);
    return list;
  }

  CategorySet Categories(std::string_view key) {
    CategorySet set = 0;
    for (const std::string& text : Texts(key)) {
      const auto category = CategoryFromId(text);
      if (!category && text != "end") Fail(text + " is no category");
      set |= category ? SetOf(*category) : kEndBit;
    }
    return set;
  }

  CategoryCondition Condition(const std::string& key) {
    return {Categories(key), Categories("not_" + key)};
  }

  RoleSet Roles(std::string_view key) {
    RoleSet set = 0;
    for (const std::string& text : Texts(key)) set |= SetOf(RoleOf(text));
    return set;
  }

  Role RoleOf(const std::string& text) const {
    const auto role = RoleFromId(text);
    if (!role) Fail(text + " is no role");
    return *role;
  }

  uint32_t Parts(std::string_view key) {
    uint32_t set = 0;
    for (const std::string& text : Texts(key)) {
      const auto found = std::find(kParts.begin(), kParts.end(), text);
      if (found == kParts.end()) Fail(text + " is no part of a step");
      set |= uint32_t{1} << (found - kParts.begin());
    }
    return set;
  }

  void RejectOtherKeys() const {
    for (const auto& [key, node] : table_)
      if (!known_.contains(key.str()))
        Fail(fmt::format("unknown key '{}'", key.str()));
  }

  [[noreturn]] void Fail(const std::string& what) const {
    throw InputError("bad-rules", "roles.toml",
                     fmt::format("role rule \"{}\": {}", id_, what),
                     "correct the rule; docs/roles.md explains the keys");
  }

 private:
  const toml::table& table_;
  std::string id_;
  std::set<std::string, std::less<>> known_;
};

RoleRule RuleOf(const toml::table& table) {
  Entry entry(table);
  RoleRule rule;
  rule.id = entry.NeededText("id");
  rule.why = entry.NeededText("why");
  const std::string role = entry.NeededText("role");
  if (role == "last_gemm")
    rule.inherits = Inherits::kLastGemm;
  else if (role == "next_op")
    rule.inherits = Inherits::kNextOp;
  else
    rule.role = entry.RoleOf(role);
  rule.categories = entry.Categories("categories");
  rule.match = entry.PatternsAt("match");
  rule.not_match = entry.PatternsAt("not_match");
  rule.attends = entry.PatternsAt("attends");
  rule.parts = entry.Parts("part");
  rule.tail = entry.Truth("tail");
  rule.draft = entry.Truth("draft");
  rule.latent = entry.Truth("latent");
  rule.previous = entry.Condition("previous");
  rule.next = entry.Condition("next");
  rule.left = entry.Condition("left");
  rule.right = entry.Condition("right");
  rule.earlier = entry.Condition("earlier");
  rule.later = entry.Condition("later");
  rule.layer = entry.Condition("layer");
  rule.earlier_roles = entry.Roles("earlier_roles");
  rule.not_earlier_roles = entry.Roles("not_earlier_roles");
  entry.RejectOtherKeys();
  return rule;
}

}  // namespace

std::string_view IdOf(Part part) { return kParts[static_cast<size_t>(part)]; }

RoleRules ParseRoleRules(std::string_view toml) {
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    throw InputError("bad-rules", "roles.toml",
                     std::string(error.description()), "correct the TOML");
  }
  RoleRules out;
  Entry top(root);
  out.skips = top.Categories("skips");
  const toml::array* array = root["role"].as_array();
  for (size_t i = 0; array != nullptr && i < array->size(); ++i)
    if (const toml::table* table = (*array)[i].as_table())
      out.rules.push_back(RuleOf(*table));
  return out;
}

const RoleRules& ShippedRoleRules() {
  static const RoleRules* const rules = [] {
    for (const EmbeddedText& file : embedded_rules())
      if (file.name == "roles.toml")
        return new RoleRules(ParseRoleRules(file.text));
    return new RoleRules();
  }();
  return *rules;
}

}  // namespace inferdiff
