// SPDX-License-Identifier: Apache-2.0
#include "report/alignment_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/number.h"
#include "report/ledger_json.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

/// Tenths of a microsecond of each row, and of what stands outside layers, that
/// add up to those of the step.
struct SideDigits {
  std::vector<int64_t> rows;  // by AlignedRow
  int64_t inside = 0, outside = 0;
};

constexpr int64_t kTenth = 100;  // ns

SideDigits DigitsOf(const std::vector<AlignedRow>& rows,
                    AlignedRow::Amounts AlignedRow::*side) {
  std::vector<Rational> times;
  for (const AlignedRow& row : rows)
    times.push_back({(row.*side).attributed_ns, 1});
  SideDigits digits;
  digits.rows = AddingIntegers(times, kTenth);
  for (size_t i = 0; i < rows.size(); ++i)
    (rows[i].in_layers ? digits.inside : digits.outside) += digits.rows[i];
  return digits;
}

std::string Tenths(int64_t digits) { return Decimal({digits, 10}, 1); }

std::vector<Cell> LayerCells(const AlignedRow::Amounts& a,
                             const AlignedRow::Amounts& b) {
  const auto count = [](const AlignedRow::Amounts& side) {
    return side.ops == 0 ? "-" : CountText({side.ops, side.layers});
  };
  const auto time = [](const AlignedRow::Amounts& side) {
    return side.ops == 0 ? "-"
                         : Decimal({side.attributed_ns, side.layers}, 1, 1000);
  };
  return {count(a), count(b), time(a), time(b)};
}

Cell Difference(int64_t a, int64_t b) {
  return {SignedDecimal({b - a, 10}, 1),
          b == a ? Tint::kPlain : (b < a ? Tint::kAhead : Tint::kBehind)};
}

/// What the terms of rows add up to, printed in tenths of a microsecond.
class FloorCells {
 public:
  explicit FloorCells(const Causes& causes) : splits_(causes.by_role) {}

  bool any() const { return !splits_.empty(); }
  /// Of the rows that `in` picks.
  template <typename In>
  void Add(In in, std::vector<Cell>* cells) const {
    if (!any()) return;
    for (Rational FloorSplit::*term :
         {&FloorSplit::count, &FloorSplit::price, &FloorSplit::rest}) {
      Rational sum{0, 1};
      for (size_t i = 0; i < splits_.size(); ++i)
        if (in(i)) sum = sum + splits_[i].*term;
      cells->emplace_back(SignedDecimal(sum, 1, 1000));
    }
  }

 private:
  const std::vector<FloorSplit>& splits_;
};

template <typename In>
void AddSums(const std::string& name, int64_t a, int64_t b, bool total,
             const FloorCells& floors, In in, Table* table) {
  std::vector<Cell> cells = {name, "",        "",        "",
                             "",   Tenths(a), Tenths(b), Difference(a, b)};
  floors.Add(in, &cells);
  if (total)
    table->AddTotal(std::move(cells));
  else
    table->Add(std::move(cells));
}

Table RoleTable(const CompareResult& result) {
  const Alignment& alignment = result.alignment;
  const FloorCells floors(result.causes);
  const SideDigits a = DigitsOf(alignment.rows, &AlignedRow::a);
  const SideDigits b = DigitsOf(alignment.rows, &AlignedRow::b);
  Table table;
  table.columns = {{"Role, \u00b5s", Align::kLeft},
                   {"kernels A"},
                   {"B"},
                   {"a layer A"},
                   {"B"},
                   {"a step A"},
                   {"B"},
                   {"B \u2212 A"}};
  if (floors.any()) {
    for (const size_t spare : {3, 4}) table.columns[spare].spare = true;
    for (const char* term : {"count", "price", "rest"})
      table.columns.push_back({term});
  }
  for (size_t i = 0; i < alignment.rows.size(); ++i) {
    const AlignedRow& row = alignment.rows[i];
    if (!row.in_layers) continue;
    std::vector<Cell> cells = {std::string(IdOf(row.role))};
    for (Cell& cell : LayerCells(row.a, row.b)) cells.push_back(cell);
    cells.push_back(Tenths(a.rows[i]));
    cells.push_back(Tenths(b.rows[i]));
    cells.push_back(Difference(a.rows[i], b.rows[i]));
    floors.Add([&](size_t row_of) { return row_of == i; }, &cells);
    table.Add(std::move(cells));
  }
  const auto inside = [&](size_t i) { return alignment.rows[i].in_layers; };
  AddSums("all in layers", a.inside, b.inside, true, floors, inside, &table);
  if (a.outside != 0 || b.outside != 0)
    AddSums(
        "outside layers", a.outside, b.outside, false, floors,
        [&](size_t i) { return !inside(i); }, &table);
  return table;
}

/// A line for each kernel; figures on the first.
void AddMatch(const RoleMatch& match, Table* table) {
  const auto kernel = [](const std::vector<std::string>& side, size_t i) {
    return i < side.size() ? Cell(side[i])
                           : Cell(side.empty() && i == 0 ? "-" : "");
  };
  const auto time = [](const std::vector<std::string>& side, int64_t ns) {
    return side.empty() ? std::string("-") : Decimal({ns, 1}, 1, 1000);
  };
  table->Add({kernel(match.a, 0), kernel(match.b, 0), Grouped(match.groups),
              time(match.a, match.a_ns), time(match.b, match.b_ns),
              IdOf(match.reason), IdOf(match.confidence)});
  const size_t lines = std::max(match.a.size(), match.b.size());
  for (size_t i = 1; i < lines; ++i)
    table->Add({kernel(match.a, i), kernel(match.b, i)});
}

std::string_view SentenceOf(MatchReason reason) {
  switch (reason) {
    case MatchReason::kOnlyOne:
      return "a layer does this work once, so all its kernels belong together";
    case MatchReason::kPlace:
      return "a layer does it several times: those between the same "
             "neighbouring work belong together";
    case MatchReason::kFused:
      return "one side has no kernel for it: the other's is held against the "
             "kernel that does it, too";
    case MatchReason::kFamily:
      return "outside layers, kernels of one family, in order";
    case MatchReason::kRole:
      return "outside layers, kernels of one role, in order";
    case MatchReason::kElsewhere:
      return "of one family and role, in another place outside layers";
    case MatchReason::kExtra:
      return "a kernel that its kind of layer does not have, with its role";
    case MatchReason::kNoCounterpart:
      break;
  }
  return "the other side has no kernel for it";
}

/// One sentence for each reason in the table.
std::vector<std::string> ReasonsOf(const RoleDive& dive) {
  std::vector<MatchReason> seen;
  std::vector<std::string> sentences;
  for (const RoleMatch& match : dive.matches) {
    if (std::find(seen.begin(), seen.end(), match.reason) != seen.end())
      continue;
    seen.push_back(match.reason);
    sentences.push_back(
        fmt::format("{}: {}.", IdOf(match.reason), SentenceOf(match.reason)));
  }
  return sentences;
}

/// "33 groups of low confidence" or nothing.
size_t Unsure(const Alignment& alignment) {
  size_t groups = 0;
  for (const AlignedGroup& group : alignment.groups)
    if (group.confidence == MatchConfidence::kLow) ++groups;
  return groups;
}

}  // namespace

std::vector<Section> AlignmentSections(const CompareResult& result) {
  const StepLayers& a = result.a.layers;
  const StepLayers& b = result.b.layers;
  if (a.layers.layers.empty() || b.layers.layers.empty()) return {};
  const Alignment& alignment = result.alignment;
  Section section{
      .title = fmt::format("A layer by role, step {} of A and step {} of B",
                           a.step, b.step)};
  section.before.push_back(
      fmt::format("A: {}. B: {}.", a.layers.evidence, b.layers.evidence));
  section.table = RoleTable(result);
  if (!result.causes.by_role.empty())
    section.after.push_back(
        "count, price, rest: as in the causes, of the two steps' attributed "
        "time; each rounded by itself.");
  if (!alignment.doubt.empty()) section.after.push_back(alignment.doubt + ".");
  if (const size_t unsure = Unsure(alignment); unsure > 0)
    section.after.push_back(fmt::format(
        "{} of {} groups of kernels are matched with low confidence.",
        Grouped(static_cast<int64_t>(unsure)),
        Grouped(static_cast<int64_t>(alignment.groups.size()))));
  section.folded = true;
  return {std::move(section)};
}

Section RoleSection(const RoleDive& dive) {
  Section section{.title = fmt::format("Deep dive: {}", IdOf(dive.role))};
  if (dive.matches.empty()) {
    section.before.push_back(dive.not_known.empty()
                                 ? "No kernel of either side has this role."
                                 : dive.not_known);
    return section;
  }
  Table table;
  table.columns = {{"Kernels of A", Align::kLeft, true, true},
                   {"Kernels of B", Align::kLeft, true, true},
                   {"times"},
                   {"\u00b5s A"},
                   {"B"},
                   {"matched by", Align::kLeft},
                   {"confidence", Align::kLeft}};
  for (const RoleMatch& match : dive.matches) AddMatch(match, &table);
  section.table = std::move(table);
  section.after = ReasonsOf(dive);
  section.after.push_back(
      "Time is of the two representative steps, attributed. `inferdiff explain "
      "TRACE kernel:NAME` says why a kernel has its role.");
  return section;
}

Json JsonOfRole(const RoleDive& dive) {
  Json matches = Json::array();
  for (const RoleMatch& match : dive.matches) {
    matches.push_back({{"in_layers", match.in_layers},
                       {"a", match.a},
                       {"b", match.b},
                       {"groups", JsonInt(match.groups)},
                       {"a_ns", JsonInt(match.a_ns)},
                       {"b_ns", JsonInt(match.b_ns)},
                       {"confidence", IdOf(match.confidence)},
                       {"reason", IdOf(match.reason)}});
  }
  return {{"role", IdOf(dive.role)},
          {"not_known", JsonText(dive.not_known)},
          {"matches", std::move(matches)}};
}

void WriteAlignment(const CompareResult& result, JsonStream& out) {
  const Alignment& alignment = result.alignment;
  const auto ordinals = [](const StepLayers& step,
                           const std::vector<uint32_t>& ops, uint32_t begin,
                           uint32_t end) {
    Json list = Json::array();
    for (uint32_t i = begin; i < end; ++i)
      list.push_back(OpAt(step, ops[i]).ordinal);
    return list;
  };
  out.Array("alignment", alignment.groups, [&](const AlignedGroup& group) {
    const uint32_t layer =
        group.layer_a != kNone ? group.layer_a : group.layer_b;
    return Json{{"layer", layer == kNone ? Json(nullptr) : Json(layer)},
                {"role", IdOf(group.role)},
                {"a", ordinals(result.a.layers, alignment.a_ops, group.a_begin,
                               group.a_end)},
                {"b", ordinals(result.b.layers, alignment.b_ops, group.b_begin,
                               group.b_end)},
                {"confidence", IdOf(group.confidence)},
                {"reason", IdOf(group.reason)}};
  });
}

}  // namespace inferdiff
