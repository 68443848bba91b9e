// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/decimal.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/gate.h"

namespace inferdiff {
namespace {

using Names = std::vector<std::string_view>;

constexpr std::string_view kUnits[] = {"ns", "us", "\u00b5s", "ms", "s"};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}
bool IsNumberByte(char c) { return (c >= '0' && c <= '9') || c == '.'; }

/// What may follow a path, and what the figure is when the path ends there.
struct Next {
  Names names;
  bool is_category = false;  // any category or group of them
  std::optional<GateUnit> end;
};

const Names kForms = {"a", "b", "gap", "ratio"};

Next AfterCoverage(size_t depth, std::string_view last) {
  if (depth == 1)
    return {{"unclassified", "other", "dropped_records"}, false, {}};
  return {{},
          false,
          last == "dropped_records" ? GateUnit::kCount : GateUnit::kShare};
}

Next AfterIntegrity(size_t depth) {
  if (depth == 1) return {{"checks", "reservations", "refusals"}, false, {}};
  return {{}, false, GateUnit::kCount};
}

/// Of category.NAME[.sum|.ops], and of step.NAME: `what` is the last name that
/// is no form.
GateUnit UnitOf(std::string_view what, std::string_view form) {
  if (form == "ratio") return GateUnit::kRatio;
  return what == "ops" ? GateUnit::kCount : GateUnit::kTime;
}

bool IsForm(std::string_view name) {
  return std::count(kForms.begin(), kForms.end(), name) > 0;
}

Next AfterCategory(const std::vector<std::string>& path, GateScope scope) {
  if (path.size() == 1) return {{}, true, {}};
  const std::string& last = path.back();
  if (scope == GateScope::kLedger) {
    if (path.size() == 2) return {{"sum", "ops"}, false, GateUnit::kTime};
    return {{}, false, UnitOf(last, "")};
  }
  if (path.size() > 2 && IsForm(last))
    return {{}, false, UnitOf(path[path.size() - 2], last)};
  if (path.size() == 2)
    return {{"a", "b", "gap", "ratio", "sum", "ops"}, false, {}};
  return {kForms, false, {}};
}

Next AfterStep(const std::vector<std::string>& path, GateScope scope) {
  if (path.size() == 1)
    return {{"wall", "busy", "sum", "idle", "foreign", "rank_wait", "ops"},
            false,
            {}};
  if (scope == GateScope::kLedger) return {{}, false, UnitOf(path[1], "")};
  if (path.size() == 2) return {kForms, false, {}};
  return {{}, false, UnitOf(path[1], path[2])};
}

Next AfterGap(size_t depth) {
  if (depth == 1) {
    return {{"wall", "work", "rank_wait", "concurrency", "foreign", "idle",
             "untraced"},
            false,
            {}};
  }
  return {{}, false, GateUnit::kTime};
}

Next After(const std::vector<std::string>& path, GateScope scope) {
  const bool compare = scope == GateScope::kCompare;
  if (path.empty()) {
    Next next{{"step", "category", "coverage", "integrity"}, false, {}};
    if (compare) next.names.insert(next.names.begin(), "gap");
    return next;
  }
  const std::string& head = path[0];
  if (head == "gap") return AfterGap(path.size());
  if (head == "step") return AfterStep(path, scope);
  if (head == "category") return AfterCategory(path, scope);
  if (head == "coverage") return AfterCoverage(path.size(), path.back());
  return AfterIntegrity(path.size());
}

Names CategoryNames() {
  Names names;
  for (const CategoryGroup& group : CategoryGroups()) {
    names.push_back(group.id);
    if (group.members.size() == 1) continue;
    for (const Category member : group.members)
      if (IdOf(member) != group.id) names.push_back(IdOf(member));
  }
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, GateScope scope) : text_(text), scope_(scope) {
    gate_.text = std::string(text);
  }

  Gate Parse() {
    if (text_.empty()) {
      throw InputError("usage", "", "--fail-if is given an empty word",
                       "write a figure and its bound: 'gap.wall > 5%'");
    }
    Path();
    Operator();
    Bound();
    Blanks();
    if (at_ < text_.size())
      Fail(at_, text_.size(), "nothing may follow the number and its unit", "");
    return std::move(gate_);
  }

 private:
  [[noreturn]] void Fail(size_t from, size_t to, const std::string& what,
                         std::string fix) const {
    const std::string head = Printable(text_.substr(0, from));
    const std::string marked = Printable(text_.substr(from, to - from));
    const std::string rest = Printable(text_.substr(to));
    throw InputError(
        "usage", "",
        fmt::format("--fail-if: {}\n    {}{}{}\n    {:{}}{:^>{}}", what, head,
                    marked, rest, "", DisplayWidth(head), "",
                    std::max<size_t>(1, DisplayWidth(marked))),
        std::move(fix));
  }

  void Blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  template <typename Accepts>
  std::string_view Take(Accepts accepts) {
    const size_t from = at_;
    while (at_ < text_.size() && accepts(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  void Path() {
    Blanks();
    for (;;) {
      const size_t from = at_;
      const std::string_view name = Take(IsNameByte);
      TakeName(from, name);
      if (at_ == text_.size() || text_[at_] != '.') break;
      ++at_;
    }
    const Next next = After(gate_.path, scope_);
    if (!next.end) Fail(at_, at_, "a name is missing here", OneOf(next));
    gate_.unit = *next.end;
  }

  void TakeName(size_t from, std::string_view name) {
    const Next next = After(gate_.path, scope_);
    if (next.names.empty() && !next.is_category)
      Fail(from, at_, "no name can follow here", "");
    bool known = false;
    if (next.is_category) {
      const auto group = FindCategoryGroup(name);
      known = group.has_value();
      if (known) name = gate_.path.emplace_back(group->id);
    } else {
      known = std::count(next.names.begin(), next.names.end(), name) > 0;
      if (known) gate_.path.emplace_back(name);
    }
    if (known) return;
    Fail(from, at_,
         name.empty() ? "a name is missing here"
                      : fmt::format("there is no '{}' here", name),
         OneOf(next));
  }

  static std::string OneOf(const Next& next) {
    return fmt::format(
        "take one of: {}",
        fmt::join(next.is_category ? CategoryNames() : next.names, ", "));
  }

  void Operator() {
    Blanks();
    const size_t from = at_;
    const std::string_view sign =
        Take([](char c) { return c == '<' || c == '>' || c == '='; });
    if (sign == ">")
      gate_.op = Gate::Op::kAbove;
    else if (sign == ">=")
      gate_.op = Gate::Op::kNotBelow;
    else if (sign == "<")
      gate_.op = Gate::Op::kBelow;
    else if (sign == "<=")
      gate_.op = Gate::Op::kNotAbove;
    else
      Fail(from, at_, "a comparison is missing here",
           "take one of: >, >=, <, <=");
  }

  void Bound() {
    Blanks();
    const size_t from = at_;
    const bool minus = at_ < text_.size() && text_[at_] == '-';
    if (minus) ++at_;
    const std::string_view number = Take(IsNumberByte);
    const size_t number_end = at_;
    constexpr int kPlaces = 6;  // beyond, the bound would be rounded
    const size_t point = number.find('.');
    const auto value = ParseFixed(number, kPlaces);
    if (!value || (point != number.npos && number.size() - point > kPlaces + 1))
      Fail(from, at_, "a number with up to 6 places is missing here", "");
    Blanks();
    const size_t unit_from = at_;
    const std::string_view unit =
        Take([](char c) { return c != ' ' && c != '\t'; });
    gate_.bound = Rational{minus ? -*value : *value, 1'000'000};
    if (unit == "%") {
      gate_.percent = true;
      gate_.bound = gate_.bound * Rational{1, 100};
      if (gate_.unit != GateUnit::kCount) return;
    }
    TakeUnit(unit_from, number_end, unit);
  }

  void TakeUnit(size_t from, size_t number_end, std::string_view unit) {
    if (gate_.unit == GateUnit::kTime) {
      const auto known = std::find(std::begin(kUnits), std::end(kUnits), unit);
      if (known == std::end(kUnits)) {
        Fail(unit.empty() ? number_end : from, at_,
             unit.empty()
                 ? "a unit is missing here"
                 : fmt::format("'{}' is no unit of time", Printable(unit)),
             "take one of: ns, us, ms, s, or % of the step");
      }
      gate_.bound_unit = *known;
      gate_.bound =
          gate_.bound * *ParseDuration(fmt::format("1{}", gate_.bound_unit));
    } else if (!unit.empty()) {
      Fail(from, at_, fmt::format("'{}' is no unit of it", Printable(unit)),
           gate_.unit == GateUnit::kCount ? "it is a number without a unit"
                                          : "take %, or leave it out");
    }
  }

  std::string_view text_;
  GateScope scope_;
  size_t at_ = 0;
  Gate gate_;
};

}  // namespace

Gate ParseGate(std::string_view text, GateScope scope) {
  return Parser(text, scope).Parse();
}

}  // namespace inferdiff
