// SPDX-License-Identifier: Apache-2.0
#include "classify/rule_file.h"

#include <fmt/core.h>
#include <re2/re2.h>
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace inferdiff {
namespace {

/// The `number`-th line of `text`, counted from 1.
std::string_view LineOf(std::string_view text, size_t number) {
  for (size_t i = 1; i < number; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// Letters of a bare key, and what may stand between its parts.
bool IsKeyLetter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == ' ' ||
         c == '\t';
}

/// A TOML file and how to complain about it.
struct File {
  std::string_view text;
  const std::string& path;

  [[noreturn]] void Fail(toml::source_position at, const std::string& what,
                         const std::string& fix) const {
    constexpr size_t kBefore = 40, kWidth = 76;
    const std::string_view line = LineOf(text, at.line);
    const size_t column = at.column > 0 ? at.column - 1 : 0;
    const size_t cut = column > kBefore ? column - kBefore : 0;
    const std::string_view shown =
        cut < line.size() ? line.substr(cut, kWidth) : std::string_view();
    std::string clean(shown);
    for (char& c : clean)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    throw InputError("bad-rules", path,
                     fmt::format("{}\n  {}\n  {:>{}}", Printable(what),
                                 Printable(clean), "^", column - cut + 1),
                     fix, InputPosition{InputPosition::Unit::kLine, at.line});
  }

  /// The parser limits how deep values nest, but each part of a dotted key
  /// nests too, and those it takes by recursion.
  void RefuseLongKeys() const {
    constexpr int kMost = 16;  // in each of 256 nested values, at worst
    uint32_t line = 1;
    int dots = 0;  // of the key that ends here
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\n') ++line;
      if (c == '#') i = std::min(text.find('\n', i), text.size()) - 1;
      if (c == '"' || c == '\'') {
        i = EndOfQuoted(i);
      } else if (c == '.') {
        if (++dots <= kMost) continue;
        Fail({line, 1}, "a key has more than 16 parts",
             "no rule has such a key");
      } else if (!IsKeyLetter(c)) {
        dots = 0;
      }
    }
  }

  /// Where the string that opens at `at` ends, at its line's end at the latest.
  size_t EndOfQuoted(size_t at) const {
    const char quote = text[at];
    size_t i = at + 1;
    while (i < text.size() && text[i] != quote && text[i] != '\n') {
      i += quote == '"' && text[i] == '\\' ? 2 : 1;
    }
    return i < text.size() && text[i] == quote ? i : i - 1;
  }

  toml::table Parse() const {
    RefuseLongKeys();
    try {
      return toml::parse(text, path);
    } catch (const toml::parse_error& error) {
      Fail(error.source().begin, std::string(error.description()),
           "correct the TOML; docs/rules.md shows a rule");
    }
  }
};

/// One table of a rule file, its keys read and checked one by one.
class Entry {
 public:
  Entry(const File& file, const toml::table& table)
      : file_(file), table_(table) {}

  const toml::node* Get(std::string_view key) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    return node;
  }

  std::string Text(std::string_view key, bool needed) {
    const toml::node* node = Get(key);
    if (node == nullptr) {
      if (!needed) return {};
      Fail(table_.source().begin, fmt::format("a rule needs '{}'", key),
           fmt::format("add {} = \"...\"", key));
    }
    return TextOf(*node, key);
  }

  std::string TextOf(const toml::node& node, std::string_view key) const {
    const std::optional<std::string> text = node.value<std::string>();
    if (!text || text->empty()) {
      Fail(node.source().begin, fmt::format("'{}' must be text", key),
           "write it in quotes");
    }
    return *text;
  }

  /// A string or an array of strings, with where each stands.
  std::vector<std::pair<std::string, toml::source_position>> Texts(
      std::string_view key) {
    std::vector<std::pair<std::string, toml::source_position>> out;
    const toml::node* node = Get(key);
    if (node == nullptr) return out;
    if (const toml::array* array = node->as_array()) {
      for (const toml::node& item : *array) {
        out.emplace_back(TextOf(item, key), item.source().begin);
      }
    } else {
      out.emplace_back(TextOf(*node, key), node->source().begin);
    }
    return out;
  }

  std::vector<std::string> Strings(std::string_view key) {
    std::vector<std::string> out;
    for (auto& [text, at] : Texts(key)) out.push_back(std::move(text));
    return out;
  }

  Category CategoryAt(const std::string& id, toml::source_position at) const {
    const std::optional<Category> category = CategoryFromId(id);
    if (!category) {
      Fail(at, fmt::format("'{}' is no category", id),
           "use one of the categories listed in docs/rules.md");
    }
    return *category;
  }

  CategorySet Categories(std::string_view key) {
    CategorySet set = 0;
    for (const auto& [id, at] : Texts(key)) set |= SetOf(CategoryAt(id, at));
    return set;
  }

  Category OneCategory(std::string_view key) {
    const auto ids = Texts(key);
    return ids.empty() ? Category::kCount
                       : CategoryAt(ids.front().first, ids.front().second);
  }

  uint32_t Number(std::string_view key) {
    const toml::node* node = Get(key);
    if (node == nullptr) return 0;
    const std::optional<int64_t> value = node->value<int64_t>();
    if (!value || *value < 0 || *value > 1'000'000) {
      Fail(node->source().begin, fmt::format("'{}' must be a number", key),
           "write a whole number from 0 to 1000000");
    }
    return static_cast<uint32_t>(*value);
  }

  void RejectOtherKeys() const {
    for (const auto& [key, node] : table_) {
      if (known_.count(key.str()) == 0) {
        Fail(key.source().begin, fmt::format("unknown key '{}'", key.str()),
             "remove it, or correct its spelling; docs/rules.md has the keys");
      }
    }
  }

  [[noreturn]] void Fail(toml::source_position at, const std::string& what,
                         const std::string& fix) const {
    file_.Fail(at, what, fix);
  }

  toml::source_position where() const { return table_.source().begin; }

 private:
  const File& file_;
  const toml::table& table_;
  std::set<std::string_view> known_;
};

const RE2::Options& MatchOptions() {
  static const RE2::Options* const options = [] {
    auto* o = new RE2::Options();
    o->set_encoding(RE2::Options::EncodingLatin1);  // names are bytes
    o->set_never_capture(true);
    o->set_log_errors(false);
    return o;
  }();
  return *options;
}

Vendor VendorOf(const Entry& entry, const std::string& text) {
  if (text == "nvidia") return Vendor::kNvidia;
  if (text == "amd") return Vendor::kAmd;
  if (!text.empty() && text != "both") {
    entry.Fail(entry.where(), fmt::format("'{}' is no vendor", text),
               "use nvidia, amd or both");
  }
  return Vendor::kUnknown;
}

/// A user's patterns are compiled here, for a message that points at the wrong
/// one; the shipped ones were, by a test.
std::vector<std::string> PatternsOf(Entry& entry, bool check) {
  std::vector<std::string> patterns;
  for (auto& [text, at] : entry.Texts("match")) {
    if (check) {
      const RE2 re(text, MatchOptions());
      if (!re.ok()) {
        toml::source_position place = at;
        const size_t offset = text.find(re.error_arg());
        // One for the opening quote.
        place.column += static_cast<toml::source_index>(
            1 + (offset == std::string::npos ? 0 : offset));
        entry.Fail(place, fmt::format("bad pattern: {}", re.error()),
                   "patterns are RE2: no look-ahead, no back-references");
      }
    }
    patterns.push_back(std::move(text));
  }
  if (patterns.empty()) {
    entry.Fail(entry.where(), "a rule needs 'match'",
               "add match = 'a regular expression (RE2)'");
  }
  return patterns;
}

std::vector<CheckedExample> CheckedOf(const File& file, Entry& entry) {
  std::vector<CheckedExample> out;
  const toml::node* node = entry.Get("checked");
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) return out;
  for (const toml::node& item : *array) {
    const toml::table* table = item.as_table();
    if (table == nullptr) {
      file.Fail(item.source().begin, "'checked' holds tables",
                "write {name, repository, path, function, vendor}");
    }
    Entry fields(file, *table);
    CheckedExample example;
    example.name = fields.Text("name", true);
    example.repository = fields.Text("repository", true);
    example.path = fields.Text("path", true);
    example.function = fields.Text("function", true);
    example.vendor = VendorOf(fields, fields.Text("vendor", true));
    fields.RejectOtherKeys();
    out.push_back(std::move(example));
  }
  return out;
}

RuleInfo InfoOf(Entry& entry) {
  RuleInfo info;
  info.id = entry.Text("id", true);
  info.why = entry.Text("why", true);
  return info;
}

NameRule NameRuleOf(const File& file, const toml::table& table, bool check) {
  Entry entry(file, table);
  NameRule rule;
  rule.info = InfoOf(entry);
  rule.info.category = entry.OneCategory("category");
  if (rule.info.category == Category::kCount) {
    entry.Fail(entry.where(), "a rule needs 'category'",
               "add category = \"...\"; docs/rules.md lists them");
  }
  rule.info.library = entry.Text("library", false);
  rule.info.vendor = VendorOf(entry, entry.Text("vendor", false));
  const std::string scope = entry.Text("scope", false);
  if (!scope.empty() && scope != "head" && scope != "full" &&
      scope != "words") {
    entry.Fail(entry.where(), fmt::format("'{}' is no scope", scope),
               "use head, full or words");
  }
  rule.part = scope == "full"    ? NamePart::kFull
              : scope == "words" ? NamePart::kWords
                                 : NamePart::kHead;
  rule.patterns = PatternsOf(entry, check);
  rule.examples = entry.Strings("examples");
  rule.counter_examples = entry.Strings("counter_examples");
  rule.checked = CheckedOf(file, entry);
  entry.RejectOtherKeys();
  return rule;
}

std::vector<ContextExample> ContextExamplesOf(const File& file, Entry& entry) {
  std::vector<ContextExample> out;
  const toml::node* node = entry.Get("example");
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) return out;
  for (const toml::node& item : *array) {
    const toml::table* table = item.as_table();
    if (table == nullptr) {
      file.Fail(item.source().begin, "an example is a table",
                "write [[context.example]]");
    }
    Entry fields(file, *table);
    ContextExample example;
    example.ops = fields.Strings("ops");
    if (const toml::node* changes = fields.Get("changes")) {
      if (const toml::array* indices = changes->as_array()) {
        for (const toml::node& index : *indices) {
          example.changes.push_back(
              static_cast<size_t>(index.value<int64_t>().value_or(0)));
        }
      }
    }
    fields.RejectOtherKeys();
    out.push_back(std::move(example));
  }
  return out;
}

ContextRule ContextRuleOf(const File& file, const toml::table& table) {
  Entry entry(file, table);
  ContextRule rule;
  rule.info = InfoOf(entry);
  rule.info.context = true;
  rule.rules = entry.Strings("rules");
  rule.categories = entry.Categories("categories");
  const auto becomes = entry.Texts("becomes");
  if (becomes.empty()) {
    entry.Fail(entry.where(), "a context rule needs 'becomes'",
               "add becomes = \"a category\" or \"last_gemm\"");
  }
  rule.inherits_gemm = becomes.front().first == "last_gemm";
  rule.info.category =
      rule.inherits_gemm ? Category::kDenseGemm : entry.OneCategory("becomes");
  rule.left = entry.Categories("left");
  rule.right = entry.Categories("right");
  rule.after = entry.Categories("after");
  rule.not_left = entry.Categories("not_left");
  rule.not_after = entry.Categories("not_after");
  rule.near = entry.OneCategory("near");
  rule.not_near = entry.OneCategory("not_near");
  rule.within = entry.Number("within");
  rule.share_of = entry.OneCategory("share_of");
  rule.percent = entry.Number("percent");
  rule.requires_rule = entry.Text("requires", false);
  rule.examples = ContextExamplesOf(file, entry);
  entry.RejectOtherKeys();
  return rule;
}

/// Calls `each` for every table of the array `key`; nothing else may stand at
/// the top of the file but `also`.
template <typename Function>
void ForEachTable(const File& file, const toml::table& root,
                  std::string_view key, std::string_view also, Function each) {
  for (const auto& [name, node] : root) {
    if (name.str() == also) continue;
    const toml::array* array = node.as_array();
    if (name.str() != key || array == nullptr ||
        !array->is_homogeneous(toml::node_type::table)) {
      file.Fail(name.source().begin, fmt::format("unexpected '{}'", name.str()),
                fmt::format("a file of rules holds [[{}]] tables only", key));
    }
    for (const toml::node& item : *array) each(*item.as_table());
  }
}

}  // namespace

std::vector<NameRule> ParseNameRules(std::string_view toml,
                                     const std::string& path) {
  const File file{toml, path};
  const toml::table root = file.Parse();
  std::vector<NameRule> rules;
  const bool check = !path.empty();
  ForEachTable(file, root, "rule", {}, [&](const toml::table& table) {
    rules.push_back(NameRuleOf(file, table, check));
  });
  return rules;
}

ContextRules ParseContextRules(std::string_view toml, const std::string& path) {
  const File file{toml, path};
  const toml::table root = file.Parse();
  ContextRules out;
  if (const toml::table* table = root["neighbours"].as_table()) {
    Entry entry(file, *table);
    out.beside_skips = entry.Categories("beside_skips");
    out.after_skips = entry.Categories("after_skips");
    out.tail_rules = entry.Strings("tail_rules");
    entry.RejectOtherKeys();
  }
  ForEachTable(file, root, "context", "neighbours",
               [&](const toml::table& table) {
                 out.rules.push_back(ContextRuleOf(file, table));
               });
  return out;
}

}  // namespace inferdiff
