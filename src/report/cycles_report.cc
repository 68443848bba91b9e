// SPDX-License-Identifier: Apache-2.0
#include "report/cycles_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
#include "report/ledger_json.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDecimals = 1;  // of microseconds

/// One line of the table; together they are the wall.
struct PartLine {
  std::string_view id, title;
  int64_t ns = 0;  // over all cycles
};

bool IsPlain(const Cycles& cycles) {
  return KindOf(cycles) == CycleKind::kPlain;
}

std::vector<PartLine> LinesOf(const Cycles& cycles, bool plain) {
  return {
      {"draft", "draft", cycles.of(CyclePart::kDraft)},
      {"verify", plain ? "forward pass" : "verify",
       cycles.of(CyclePart::kVerify)},
      {"sample", plain ? "sample" : "accept and sample",
       cycles.of(CyclePart::kSample)},
      {"other", "other work", cycles.of(CyclePart::kOther)},
      {"foreign", "foreign (others' work)", cycles.foreign_ns},
      {"idle", "idle outside replays", cycles.idle_ns},
  };
}

/// Means a cycle.
std::vector<Rational> TimesOf(const Cycles& cycles) {
  std::vector<Rational> times;
  for (const PartLine& line : LinesOf(cycles, false))
    times.push_back({line.ns, cycles.cycles});
  return times;
}

std::string Passes(int64_t n) {
  return fmt::format("{} {}", Grouped(n), n == 1 ? "pass" : "passes");
}

std::string Deep(int64_t depth) {
  if (depth == 0) return "";
  return fmt::format(", {} of attention deep", Plural(depth, "block"));
}

/// "5 passes that draft, 1 block of attention deep, and one that verifies"
std::string SpeculationText(const Cycles& cycles) {
  const std::string verify =
      "one that verifies" + Deep(cycles.verify_depth) + ".";
  if (cycles.most_drafts == 0)
    return "A cycle has no pass that drafts, and " + verify;
  const std::string drafts = cycles.least_drafts == cycles.most_drafts
                                 ? Passes(cycles.most_drafts)
                                 : fmt::format("{} to {}", cycles.least_drafts,
                                               Passes(cycles.most_drafts));
  return fmt::format("A cycle has {} that {}{}, and {} {}", drafts,
                     cycles.most_drafts == 1 ? "drafts" : "draft",
                     Deep(cycles.draft_depth), verify,
                     cycles.marked == cycles.cycles
                         ? "Markers tell them apart."
                         : "Their depth tells them apart.");
}

/// Why the steps are no cycles.
std::string_view ReasonText(CycleKind kind) {
  switch (kind) {
    case CycleKind::kPlain:
    case CycleKind::kSpeculative:
      break;
    case CycleKind::kNotDecode:
      return "the steps are neither decode nor verification";
    case CycleKind::kTraining:
      return "kernels of a backward pass run in the steps";
    case CycleKind::kNoPass:
      return "no pass of a model is told in the steps: no attention, and no "
             "marker that says decode";
    case CycleKind::kSeveral:
      return "a step has several passes of about one size, and which of them "
             "verifies is not told";
    case CycleKind::kUntold:
      return "a step has a smaller pass beside a deep one, and nothing says "
             "that it drafts";
    case CycleKind::kContradicted:
      return "a step has smaller passes beside a deep one, as if it drafted, "
             "and its marker says one token a sequence";
  }
  return "";
}

/// What the cycles are, or why there are none; empty without used steps.
std::string HowText(const Cycles& cycles) {
  const std::optional<CycleKind> kind = KindOf(cycles);
  if (!kind) return "";
  if (!IsCycle(*kind))
    return fmt::format("Cycles are not told: {}.", ReasonText(*kind));
  std::string text = *kind == CycleKind::kSpeculative
                         ? SpeculationText(cycles)
                         : "A cycle is one pass" + Deep(cycles.verify_depth) +
                               "; nothing is drafted.";
  if (!cycles.wall_known)
    text += " Its wall is unknown: taken up to the end of its last operation.";
  return text;
}

/// Most that a sequence can get of a cycle, where the marker says how many
/// tokens are verified.
std::optional<Rational> MostAccepted(const LedgerResult& ledger) {
  if (ledger.group >= ledger.steps.groups.size()) return std::nullopt;
  const StepShape& shape = ledger.steps.groups[ledger.group].shape;
  if (!shape.tokens || !shape.batch || *shape.batch < 1) return std::nullopt;
  return Rational{*shape.tokens, *shape.batch};
}

bool IsDecode(const LedgerResult& ledger) {
  const auto& groups = ledger.steps.groups;
  return ledger.group < groups.size() &&
         groups[ledger.group].shape.kind == StepKind::kDecode;
}

/// Tokens that a sequence gets of a cycle: known or given.
std::optional<Rational> TokensOf(const LedgerResult& ledger) {
  if (IsPlain(ledger.cycles))
    return IsDecode(ledger) ? std::optional(Rational{1, 1}) : std::nullopt;
  const auto most = MostAccepted(ledger);
  if (!ledger.accepted || (most && *most < *ledger.accepted))
    return std::nullopt;
  return ledger.accepted;
}

/// The wall over the tokens. Nothing where 64 bits do not hold it.
std::optional<Rational> TokenTime(const LedgerResult& ledger) {
  const Cycles& cycles = ledger.cycles;
  if (!AreCycles(cycles) || !cycles.wall_known) return std::nullopt;
  const auto tokens = TokensOf(ledger);
  Rational time;
  if (!tokens ||
      __builtin_mul_overflow(cycles.wall_ns, tokens->den, &time.num) ||
      __builtin_mul_overflow(cycles.cycles, tokens->num, &time.den))
    return std::nullopt;
  return time;
}

/// "3", "2.51": a mean over cycles, of which tenths are too few.
std::string TokenCount(Rational tokens) {
  return tokens.num % tokens.den == 0 ? CountText(tokens) : Decimal(tokens, 2);
}

std::string TokenText(const LedgerResult& ledger) {
  const Cycles& cycles = ledger.cycles;
  if (!AreCycles(cycles)) return "";
  const bool plain = IsPlain(cycles);
  std::string text;
  if (plain) {
    if (ledger.accepted) text = "--accepted is not used: nothing is accepted. ";
  } else if (!ledger.accepted) {
    return "How many tokens a cycle gives no trace says; --accepted does.";
  } else if (!TokensOf(ledger)) {
    return fmt::format(
        "--accepted is not used: {} tokens are more than the {} that are "
        "verified.",
        CountText(*ledger.accepted), CountText(*MostAccepted(ledger)));
  }
  const auto time = TokenTime(ledger);
  if (!time) return text;
  return text + fmt::format(
                    "{} a token of a sequence (derived: the wall by {} "
                    "{}).",
                    Duration(*time), TokenCount(*TokensOf(ledger)),
                    plain ? "token" : "tokens, as given");
}

/// Parts that both sides have none of are left out of a table.
bool IsEmpty(size_t line, const Cycles& cycles) {
  return LinesOf(cycles, false)[line].ns == 0;
}

Table TableOf(const Cycles& cycles) {
  const bool plain = IsPlain(cycles);
  const std::vector<PartLine> lines = LinesOf(cycles, plain);
  const std::vector<Rational> times = TimesOf(cycles);
  const PrintedColumn column = AddingColumn(times, kDecimals, 1000);
  const PrintedColumn shares = PercentColumn(times, 1);
  Table table;
  table.columns = {{"A cycle", Align::kLeft}, {"\u00b5s"}, {"%"}};
  if (cycles.drafts > 0) {
    table.columns.push_back({"passes"});
    table.columns.push_back({"\u00b5s a pass"});
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (IsEmpty(i, cycles)) continue;
    std::vector<Cell> cells = {lines[i].title, column.parts[i],
                               shares.parts[i]};
    if (lines[i].id == "draft" && cycles.drafts > 0) {
      cells.emplace_back(CountText({cycles.drafts, cycles.cycles}));
      cells.emplace_back(
          Decimal({lines[i].ns, cycles.drafts}, kDecimals, 1000));
    }
    table.Add(std::move(cells));
  }
  table.AddTotal({"cycle", column.total, shares.total});
  return table;
}

/// One side's columns; dashes where it has no cycles.
struct SideColumns {
  explicit SideColumns(const Cycles& cycles) : known(AreCycles(cycles)) {
    if (!known) return;
    times = AddingColumn(TimesOf(cycles), kDecimals, 1000);
    shares = PercentColumn(TimesOf(cycles), 1);
  }
  std::string Time(size_t i) const { return known ? times.parts[i] : "\u2014"; }
  std::string Share(size_t i) const {
    return known ? shares.parts[i] : "\u2014";
  }
  std::string Total() const { return known ? times.total : "\u2014"; }

  bool known;
  PrintedColumn times, shares;
};

/// B - A, part by part.
std::vector<Rational> Deltas(const Cycles& a, const Cycles& b) {
  std::vector<Rational> deltas;
  const std::vector<Rational> of_a = TimesOf(a), of_b = TimesOf(b);
  for (size_t i = 0; i < of_a.size(); ++i) deltas.push_back(of_b[i] - of_a[i]);
  return deltas;
}

Table TableOf(const CompareResult& result) {
  const Cycles &a = result.a.cycles, &b = result.b.cycles;
  const SideColumns of_a(a), of_b(b);
  const bool fair = result.comparable.verdict != Comparability::kNo;
  const bool both = of_a.known && of_b.known && fair;
  PrintedColumn deltas;
  if (both) deltas = AddingColumn(Deltas(a, b), kDecimals, 1000, Sign::kAlways);
  Table table;
  table.columns = {
      {"A cycle", Align::kLeft}, {"A \u00b5s"}, {"%"}, {"B \u00b5s"}, {"%"}};
  if (fair) table.columns.push_back({"B \u2212 A"});
  const bool plain = (!of_a.known || IsPlain(a)) && (!of_b.known || IsPlain(b));
  const std::vector<PartLine> lines = LinesOf(a, plain);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (IsEmpty(i, a) && IsEmpty(i, b)) continue;
    std::vector<Cell> cells = {lines[i].title, of_a.Time(i), of_a.Share(i),
                               of_b.Time(i), of_b.Share(i)};
    if (fair) cells.emplace_back(both ? deltas.parts[i] : "");
    table.Add(std::move(cells));
  }
  std::vector<Cell> total = {"cycle", of_a.Total(),
                             of_a.known ? of_a.shares.total : "", of_b.Total(),
                             of_b.known ? of_b.shares.total : ""};
  if (fair) total.emplace_back(both ? deltas.total : "");
  table.AddTotal(std::move(total));
  return table;
}

/// A total over the cycles; null without any.
Json Total(const Cycles& cycles, int64_t ns) {
  return AreCycles(cycles) ? JsonInt(ns) : Json(nullptr);
}

}  // namespace

std::optional<Section> CycleSection(const LedgerResult& ledger) {
  const std::optional<CycleKind> kind = KindOf(ledger.cycles);
  if (!kind || *kind == CycleKind::kNotDecode ||
      *kind == CycleKind::kTraining || *kind == CycleKind::kNoPass)
    return std::nullopt;
  Section section;
  section.title = "Cycles";
  section.before.push_back(HowText(ledger.cycles));
  if (!IsCycle(*kind)) return section;
  section.table = TableOf(ledger.cycles);
  if (std::string text = TokenText(ledger); !text.empty())
    section.after.push_back(std::move(text));
  return section;
}

std::optional<Section> CycleSection(const CompareResult& result) {
  const Cycles &a = result.a.cycles, &b = result.b.cycles;
  if (!AreCycles(a) && !AreCycles(b)) return std::nullopt;
  Section section;
  section.title = "Cycles";
  section.table = TableOf(result);
  for (const Side side : {Side::kA, Side::kB}) {
    const LedgerResult& ledger = side == Side::kA ? result.a : result.b;
    std::string text = HowText(ledger.cycles);
    if (text.empty()) text = "Cycles are not told: no step is known.";
    if (const std::string token = TokenText(ledger); !token.empty())
      text += " " + token;
    section.after.push_back(fmt::format("{}: {}", NameOf(side), text));
  }
  return section;
}

void WriteCycles(const LedgerResult& ledger, JsonStream& out) {
  const Cycles& cycles = ledger.cycles;
  const std::optional<CycleKind> kind = KindOf(cycles);
  const bool known = AreCycles(cycles);
  const auto token = TokenTime(ledger);
  Json steps = Json::object();
  for (size_t i = 0; i < kCycleKinds; ++i)
    if (cycles.steps[i] > 0)
      steps[std::string(IdOf(static_cast<CycleKind>(i)))] =
          JsonInt(cycles.steps[i]);
  out.Object("cycles", [&] {
    out.Members({{"kind", kind ? Json(IdOf(*kind)) : Json(nullptr)},
                 {"how", JsonText(HowText(cycles))},
                 {"steps", std::move(steps)},
                 {"cycles", known ? JsonInt(cycles.cycles) : Json(0)},
                 {"wall_known", cycles.wall_known},
                 {"wall_ns", Total(cycles, cycles.wall_ns)}});
    for (const PartLine& line : LinesOf(cycles, false))
      out.Member(std::string(line.id) + "_ns", Total(cycles, line.ns));
    out.Members(
        {{"draft_passes", Total(cycles, cycles.drafts)},
         {"least_draft_passes", Total(cycles, cycles.least_drafts)},
         {"most_draft_passes", Total(cycles, cycles.most_drafts)},
         {"draft_depth", Total(cycles, cycles.draft_depth)},
         {"verify_depth", Total(cycles, cycles.verify_depth)},
         {"marked", Total(cycles, cycles.marked)},
         {"accepted",
          ledger.accepted ? JsonRational(*ledger.accepted) : Json(nullptr)},
         {"derived_token_ns", token ? JsonRational(*token) : Json(nullptr)}});
  });
}

void WriteCycles(const CompareResult& result, JsonStream& out) {
  const Cycles &a = result.a.cycles, &b = result.b.cycles;
  const bool known_a = AreCycles(a), known_b = AreCycles(b);
  const auto integers = [](bool known, const Cycles& cycles) {
    return known ? AddingIntegers(TimesOf(cycles)) : std::vector<int64_t>();
  };
  const std::vector<int64_t> of_a = integers(known_a, a);
  const std::vector<int64_t> of_b = integers(known_b, b);
  const std::vector<int64_t> deltas = known_a && known_b
                                          ? AddingIntegers(Deltas(a, b))
                                          : std::vector<int64_t>();
  const auto at = [](const std::vector<int64_t>& values, size_t i) {
    return values.empty() ? Json(nullptr) : JsonInt(values[i]);
  };
  size_t i = 0;
  out.Array("cycles", LinesOf(a, false), [&](const PartLine& line) -> Json {
    Json json = {{"part", line.id},
                 {"a_ns", at(of_a, i)},
                 {"b_ns", at(of_b, i)},
                 {"delta_ns", at(deltas, i)}};
    ++i;
    return json;
  });
}

}  // namespace inferdiff
