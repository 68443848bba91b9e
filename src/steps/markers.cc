// SPDX-License-Identifier: Apache-2.0
#include "steps/markers.h"

#include <re2/re2.h>
#include <toml++/toml.h>

#include <charconv>
#include <map>
#include <utility>

#include "base/embedded_text.h"
#include "base/error.h"

namespace inferdiff {
namespace {

constexpr size_t kMaxText = 4096;

using Number = std::optional<int64_t>;

/// What the named groups of one rule's patterns gave.
struct Fields {
  std::string_view kind;
  Number batch, tokens, context, context_list;
  Number prefill_batch, prefill_tokens, prefill_context;
  Number decode_batch, decode_tokens, decode_context;
};

using NumberField = Number Fields::*;

const std::map<std::string, NumberField, std::less<>>& NumberFields() {
  static const std::map<std::string, NumberField, std::less<>> fields = {
      {"batch", &Fields::batch},
      {"tokens", &Fields::tokens},
      {"context", &Fields::context},
      {"context_list", &Fields::context_list},
      {"prefill_batch", &Fields::prefill_batch},
      {"prefill_tokens", &Fields::prefill_tokens},
      {"prefill_context", &Fields::prefill_context},
      {"decode_batch", &Fields::decode_batch},
      {"decode_tokens", &Fields::decode_tokens},
      {"decode_context", &Fields::decode_context},
  };
  return fields;
}

/// One compiled pattern. `groups` is by capture number, from 1; an entry is
/// null for the group `kind`.
struct Pattern {
  std::unique_ptr<RE2> re;
  std::vector<NumberField> groups;
};

[[noreturn]] void Bad(const std::string& rule, const std::string& what) {
  throw InputError("bad-rules", "markers.toml",
                   "marker rule \"" + rule + "\": " + what,
                   "correct the rule; the file's head explains the fields");
}

Pattern Compile(const std::string& rule, const std::string& text) {
  RE2::Options options;
  options.set_log_errors(false);
  Pattern pattern;
  pattern.re = std::make_unique<RE2>(text, options);
  if (!pattern.re->ok()) Bad(rule, pattern.re->error());
  const auto& names = pattern.re->CapturingGroupNames();
  for (int i = 1; i <= pattern.re->NumberOfCapturingGroups(); ++i) {
    const auto name = names.find(i);
    if (name == names.end()) Bad(rule, "a group without a name");
    if (name->second == "kind") {
      pattern.groups.push_back(nullptr);
      continue;
    }
    const auto field = NumberFields().find(name->second);
    if (field == NumberFields().end()) {
      Bad(rule, "no field is called \"" + name->second + "\"");
    }
    pattern.groups.push_back(field->second);
  }
  return pattern;
}

// A sum of the numbers in "7803, 6918"; one number is a list of one. Absent
// where a number or the sum is absurd.
Number SumOf(std::string_view list) {
  int64_t sum = 0;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || __builtin_add_overflow(sum, value, &sum)) {
      return std::nullopt;
    }
    at = next;
  }
  return sum;
}

bool Apply(const Pattern& pattern, std::string_view text, Fields& fields) {
  const re2::StringPiece subject(text.data(), text.size());
  std::vector<re2::StringPiece> found(pattern.groups.size() + 1);
  if (!pattern.re->Match(subject, 0, subject.size(), RE2::UNANCHORED,
                         found.data(), static_cast<int>(found.size()))) {
    return false;
  }
  for (size_t i = 0; i < pattern.groups.size(); ++i) {
    const re2::StringPiece& group = found[i + 1];
    if (group.data() == nullptr) continue;
    const std::string_view value(group.data(), group.size());
    if (pattern.groups[i] == nullptr) {
      fields.kind = value;
    } else {
      fields.*pattern.groups[i] = SumOf(value);
    }
  }
  return true;
}

// The whole where it is written, else the sum of the parts. A part of the
// batch that runs without saying how much makes the sum unknown.
Number Whole(Number whole, Number prefill, Number decode, const Fields& f) {
  if (whole) return whole;
  if (!prefill && !decode) return std::nullopt;
  if (!prefill && f.prefill_batch.value_or(0) > 0) return std::nullopt;
  if (!decode && f.decode_batch.value_or(0) > 0) return std::nullopt;
  int64_t sum = 0;
  if (__builtin_add_overflow(prefill.value_or(0), decode.value_or(0), &sum)) {
    return std::nullopt;  // no batch has 2^63 tokens: the marker is damaged
  }
  return sum;
}

StepKind KindOfCounts(const Fields& f) {
  if (!f.prefill_batch && !f.decode_batch) return StepKind::kUnknown;
  const bool prefill = f.prefill_batch.value_or(0) > 0;
  const bool decode = f.decode_batch.value_or(0) > 0;
  if (prefill) return decode ? StepKind::kMixed : StepKind::kPrefill;
  return decode ? StepKind::kDecode : StepKind::kIdle;
}

StepKind KindFromId(const std::string& rule, std::string_view id) {
  for (int i = 0; i <= static_cast<int>(StepKind::kOther); ++i) {
    if (IdOf(static_cast<StepKind>(i)) == id) return static_cast<StepKind>(i);
  }
  Bad(rule, "no step kind is called \"" + std::string(id) + "\"");
}

MarkerJoins JoinsFromId(const std::string& rule, std::string_view id) {
  if (id.empty()) return MarkerJoins::kNothing;
  if (id == "next") return MarkerJoins::kNext;
  if (id == "previous") return MarkerJoins::kPrevious;
  Bad(rule, "joins is neither \"next\" nor \"previous\"");
}

void AddExamples(const toml::table& table, MarkerRule& rule) {
  if (const toml::array* examples = table["examples"].as_array()) {
    for (const toml::node& node : *examples) {
      const toml::table* one = node.as_table();
      if (one == nullptr) Bad(rule.id, "an example is a table with a text");
      MarkerExample example;
      example.text = (*one)["text"].value_or(std::string());
      example.shape.kind =
          KindFromId(rule.id, (*one)["kind"].value_or(std::string_view()));
      example.shape.batch = (*one)["batch"].value<int64_t>();
      example.shape.tokens = (*one)["tokens"].value<int64_t>();
      example.shape.context = (*one)["context"].value<int64_t>();
      rule.examples.push_back(std::move(example));
    }
  }
  if (const toml::array* counter = table["counter_examples"].as_array()) {
    for (const toml::node& node : *counter) {
      rule.counter_examples.push_back(node.value_or(std::string()));
    }
  }
}

}  // namespace

struct MarkerRules::Impl {
  struct Compiled {
    Pattern pattern;
    std::vector<Pattern> parts;
    std::map<std::string, StepKind, std::less<>> kinds;
    std::optional<StepKind> kind;
  };
  std::vector<MarkerRule> rules;
  std::vector<Compiled> compiled;

  void Add(const toml::table& table);
  StepShape ShapeOf(size_t rule, const Fields& fields) const;
};

MarkerRules::MarkerRules() : impl_(std::make_unique<Impl>()) {}
MarkerRules::MarkerRules(MarkerRules&&) noexcept = default;
MarkerRules::~MarkerRules() = default;

const std::vector<MarkerRule>& MarkerRules::rules() const {
  return impl_->rules;
}

void MarkerRules::Impl::Add(const toml::table& table) {
  MarkerRule rule;
  rule.id = table["id"].value_or(std::string());
  rule.family = table["family"].value_or(std::string());
  rule.engine = table["engine"].value_or(std::string());
  rule.why = table["why"].value_or(std::string());
  const std::string pattern = table["pattern"].value_or(std::string());
  if (rule.id.empty() || rule.family.empty() || rule.why.empty() ||
      pattern.empty()) {
    Bad(rule.id, "id, family, why and pattern are all needed");
  }
  rule.joins =
      JoinsFromId(rule.id, table["joins"].value_or(std::string_view()));
  rule.opens = table["opens"].value_or(false);
  rule.generic = table["generic"].value_or(false);
  rule.one_token = table["one_token"].value_or(false);

  Compiled one;
  one.pattern = Compile(rule.id, pattern);
  if (const toml::array* parts = table["parts"].as_array()) {
    for (const toml::node& part : *parts) {
      one.parts.push_back(
          Compile(rule.id, part.value_or(std::string("(bad)"))));
    }
  }
  if (const auto kind = table["kind"].value<std::string>()) {
    one.kind = KindFromId(rule.id, *kind);
  }
  if (const toml::table* kinds = table["kinds"].as_table()) {
    for (const auto& [word, kind] : *kinds) {
      one.kinds[std::string(word.str())] =
          KindFromId(rule.id, kind.value_or(std::string_view()));
    }
  }
  AddExamples(table, rule);
  rules.push_back(std::move(rule));
  compiled.push_back(std::move(one));
}

StepShape MarkerRules::Impl::ShapeOf(size_t rule, const Fields& fields) const {
  const Compiled& one = compiled[rule];
  StepShape shape;
  shape.kind = one.kind ? *one.kind : KindOfCounts(fields);
  if (const auto word = one.kinds.find(fields.kind); word != one.kinds.end()) {
    shape.kind = word->second;
  }
  if (shape.kind == StepKind::kDecode &&
      KindOfCounts(fields) == StepKind::kMixed) {
    shape.kind = StepKind::kMixed;
  }
  shape.batch =
      Whole(fields.batch, fields.prefill_batch, fields.decode_batch, fields);
  shape.tokens =
      Whole(fields.tokens, fields.prefill_tokens, fields.decode_tokens, fields);
  shape.context = Whole(fields.context ? fields.context : fields.context_list,
                        fields.prefill_context, fields.decode_context, fields);
  if (shape.kind != StepKind::kDecode || !shape.batch) return shape;
  if (!shape.tokens && rules[rule].one_token) shape.tokens = shape.batch;
  if (shape.tokens && *shape.tokens > *shape.batch) {
    shape.kind = StepKind::kVerify;
  }
  return shape;
}

MarkerRules MarkerRules::Load(std::string_view text) {
  MarkerRules out;
  try {
    const toml::table file = toml::parse(text);
    if (const toml::array* markers = file["marker"].as_array()) {
      for (const toml::node& node : *markers) {
        if (const toml::table* table = node.as_table()) out.impl_->Add(*table);
      }
    }
  } catch (const toml::parse_error& error) {
    throw InputError(
        "bad-rules", "markers.toml", std::string(error.description()),
        "correct the TOML",
        InputPosition{InputPosition::Unit::kLine, error.source().begin.line});
  }
  return out;
}

const MarkerRules& MarkerRules::Builtin() {
  static const MarkerRules rules = [] {
    for (const EmbeddedText& file : embedded_rules()) {
      if (file.name == "markers.toml") return Load(file.text);
    }
    throw ContractError("rules/markers.toml is not in the binary");
  }();
  return rules;
}

std::optional<MarkerMatch> MarkerRules::Match(std::string_view text) const {
  text = text.substr(0, kMaxText);
  for (size_t i = 0; i < impl_->compiled.size(); ++i) {
    Fields fields;
    if (!Apply(impl_->compiled[i].pattern, text, fields)) continue;
    for (const Pattern& part : impl_->compiled[i].parts) {
      Apply(part, text, fields);
    }
    return MarkerMatch{static_cast<uint16_t>(i), impl_->ShapeOf(i, fields)};
  }
  return std::nullopt;
}

}  // namespace inferdiff
