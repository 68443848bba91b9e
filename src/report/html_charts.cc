// SPDX-License-Identifier: Apache-2.0
#include "report/html_charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/number.h"
#include "base/text.h"
#include "report/compare_tables.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/ledger_facts.h"
#include "report/ledger_tables.h"

namespace inferdiff {
namespace {

/// Where bars are drawn: from a time that may be above 0.
struct Axis {
  int64_t low = 0, high = 1;

  std::string At(int64_t ns) const { return HtmlLength(ns - low, high - low); }
  std::string Length(int64_t ns) const { return HtmlLength(ns, high - low); }
};

int64_t Rounded(Rational ns) { return RoundedTo(ns, {0, 1}); }

/// The ends of the waterfall's bars: A's step, then what is left after each.
std::vector<int64_t> Levels(const CompareResult& result,
                            const std::vector<WaterfallRow>& rows) {
  Rational level = result.causes.a_total;
  std::vector<int64_t> levels = {Rounded(level)};
  const bool a_slower = result.gap.slower == Side::kA;
  for (const WaterfallRow& row : rows) {
    level = a_slower ? level - row.delta : level + row.delta;
    levels.push_back(Rounded(level));
  }
  return levels;
}

/// Small gaps between long steps would not be seen from 0.
Axis AxisOf(const std::vector<int64_t>& levels) {
  const auto [low, high] = std::minmax_element(levels.begin(), levels.end());
  const int64_t room = (*high - *low) / 4;
  Axis axis{*low - room, std::max(*high + room / 8, *low + 1)};
  if (axis.low < *high / 4) axis.low = std::min<int64_t>(0, *low);
  return axis;
}

std::string EndRow(const CompareResult& result, Side side, const Axis& axis,
                   bool scaled) {
  const Rational total =
      side == Side::kA ? result.causes.a_total : result.causes.b_total;
  const TableUnit unit = UnitOf(result);
  const std::string_view what =
      scaled ? "step, untraced" : TitleOf(result.gap.basis);
  return fmt::format(
      "<tr class=\"end\"><th scope=\"row\"><b class=\"side {0}\">{0}</b> "
      "{1}</th><td class=\"bar\">"
      "<svg width=\"100%\" height=\"20\" aria-hidden=\"true\">"
      "<rect class=\"whole {0}\" x=\"0\" width=\"{2}\" height=\"20\"/>{3}"
      "</svg></td><td class=\"n\">{4}</td>{5}<td></td></tr>\n",
      NameOf(side), what, axis.At(Rounded(total)),
      axis.low > 0
          ? "<path class=\"tear\" d=\"M10 -2l6 6-6 6 6 6-6 6h5l6-6-6-6 "
            "6-6-6-6z\"/>"
          : "",
      unit.Print(total), scaled ? "<td></td>" : "");
}

std::string BarRow(const WaterfallRow& row, const Row& text, int64_t from,
                   int64_t to, const Axis& axis, const std::string& target) {
  const size_t cells = text.cells.size();
  std::string scaled;
  if (cells > 5)
    scaled =
        fmt::format("<td class=\"n\">{}</td>", HtmlText(text.cells[3].text));
  std::string sense = HtmlText(text.cells[cells - 2].text);
  if (!sense.empty())
    sense = fmt::format("<span class=\"sense\">{}</span> ", sense);
  const std::string_view look = row.delta.num < 0 ? "less" : "more";
  return fmt::format(
      "<tr><th scope=\"row\"><a href=\"#{0}\">{1}</a></th>"
      "<td class=\"bar\"><a href=\"#{0}\" tabindex=\"-1\" aria-hidden=\"true\">"
      "<svg width=\"100%\" height=\"20\"><line class=\"level\" x1=\"{2}\" "
      "x2=\"{2}\" y1=\"0\" y2=\"20\"/><rect class=\"{3}{4}\" x=\"{5}\" y=\"2\" "
      "width=\"{6}\" height=\"16\"/></svg></a></td>"
      "<td class=\"n {7}\">{8}{9}</td>{10}<td class=\"n\">{11}</td></tr>\n",
      target, HtmlText(row.title), axis.At(to), look,
      row.sense == GapPart::Sense::kExact ? "" : " bound",
      axis.At(std::min(from, to)),
      axis.Length(std::max(from, to) - std::min(from, to)),
      row.delta.num < 0 ? "ahead" : "behind", sense,
      HtmlText(text.cells[1].text), scaled, HtmlText(text.cells[2].text));
}

}  // namespace

std::string HtmlWaterfall(const CompareResult& result, const LinkOf& link) {
  const std::vector<WaterfallRow> rows = WaterfallRows(result);
  const Table table = WaterfallTable(result);
  const std::vector<int64_t> levels = Levels(result, rows);
  const Axis axis = AxisOf(levels);
  const bool scaled = result.causes.untraced;
  std::string out = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"The gap, part by part\"><table class=\"waterfall\"><thead>"
      "<tr><th scope=\"col\">{}</th><td></td><th scope=\"col\" class=\"n\">{}"
      "</th>{}<th scope=\"col\" class=\"n\">of gap</th></tr></thead>"
      "<tbody>\n",
      HtmlText(table.columns[0].title), HtmlText(table.columns[1].title),
      scaled ? "<th scope=\"col\" class=\"n\">scaled</th>" : "");
  out += EndRow(result, Side::kA, axis, scaled);
  for (size_t i = 0; i < rows.size(); ++i)
    out += BarRow(rows[i], table.rows[i], levels[i], levels[i + 1], axis,
                  link(rows[i].id));
  out += EndRow(result, Side::kB, axis, scaled);
  const Row& total = table.rows.back();
  out += fmt::format(
      "<tr class=\"total\"><th scope=\"row\">{}</th><td></td>"
      "<td class=\"n\">{}</td>{}<td class=\"n\">{}</td></tr></tbody></table>"
      "</div>\n",
      HtmlText(total.cells[0].text), HtmlText(total.cells[1].text),
      scaled ? "<td></td>" : "", HtmlText(total.cells[2].text));
  if (axis.low > 0)
    out += fmt::format(
        "<p class=\"aside\">The bars of A and B are cut: the "
        "axis begins at {}, not at 0.</p>\n",
        Duration({axis.low, 1}));
  return out;
}

namespace {

/// A stretch of a composition bar.
struct Stretch {
  std::string_view id;
  std::string title;
  int64_t ns = 0;  // a total
};

/// `whole` is the total that the full width stands for.
std::string StretchBar(const std::vector<Stretch>& stretches, int64_t whole,
                       std::string_view name, std::string_view label,
                       int64_t steps) {
  const std::string mark =
      name.empty() ? "" : fmt::format("<b class=\"side {0}\">{0}</b>", name);
  std::string out = fmt::format(
      "<div class=\"composition\">{}<svg width=\"100%\" height=\"30\" "
      "role=\"img\" aria-label=\"{}\">",
      mark, HtmlEscaped(label));
  int64_t at = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.ns <= 0) continue;
    out += fmt::format(
        "<rect class=\"c-{}\" x=\"{}\" width=\"{}\" height=\"30\"><title>{}: {}"
        "</title></rect>",
        ColourOf(stretch.id), HtmlLength(at, whole),
        HtmlLength(stretch.ns, whole), HtmlText(stretch.title),
        Duration({stretch.ns, std::max<int64_t>(steps, 1)}));
    at += stretch.ns;
  }
  return out + "</svg></div>\n";
}

std::vector<Stretch> StretchesOf(const CompareResult& result, Side side) {
  const SideTotals& totals =
      side == Side::kA ? result.a_totals : result.b_totals;
  std::vector<Stretch> stretches;
  for (const GroupComparison& group : result.groups) {
    const SideAmounts& amounts =
        side == Side::kA ? group.whole.a : group.whole.b;
    stretches.push_back({ColourIdOf(result, group.whole.id), group.whole.title,
                         amounts.attributed_ns});
  }
  stretches.push_back(
      {"rank_wait", "rank wait", totals.rank_wait.attributed_ns});
  stretches.push_back({"foreign", "foreign", totals.foreign_ns});
  stretches.push_back(
      {"idle", "idle", totals.idle_inside_ns + totals.idle_outside_ns});
  return stretches;
}

/// A side's total if its steps took as long as the longer side's.
int64_t WholeFor(const SideTotals& totals, Rational longest) {
  const int64_t whole = Rounded({longest.num, longest.den});
  return CheckedMul(whole, totals.steps);
}

}  // namespace

std::string_view ColourIdOf(const CompareResult& result,
                            std::string_view group) {
  for (const CategoryGroup& row : result.row_groups) {
    if (row.id == group && !row.members.empty())
      return IdOf(row.members.front());
  }
  return group;
}

std::string HtmlComposition(const CompareResult& result) {
  const Rational longest = std::max(result.gap.a_total, result.gap.b_total);
  std::string out;
  for (const Side side : {Side::kA, Side::kB}) {
    const SideTotals& totals =
        side == Side::kA ? result.a_totals : result.b_totals;
    out += StretchBar(StretchesOf(result, side), WholeFor(totals, longest),
                      NameOf(side),
                      fmt::format("A step of {} by category; the table below "
                                  "has the figures",
                                  NameOf(side)),
                      totals.steps);
  }
  return out;
}

std::string HtmlComposition(const LedgerResult& ledger) {
  std::vector<Stretch> stretches;
  for (const CategoryRow& row : CategoryRows(ledger))
    stretches.push_back({IdOf(row.category), std::string(TitleOf(row.category)),
                         row.amounts.attributed_ns});
  stretches.push_back(
      {"rank_wait", RankWaitTitle(ledger), ledger.rank_wait.attributed_ns});
  const PerStep& steps = ledger.per_step;
  stretches.push_back({"foreign", "foreign", steps.foreign.total});
  stretches.push_back({"idle", "idle", steps.idle.total});
  return StretchBar(stretches, WholeOf(ledger), "",
                    "A step by category; the table below has the figures",
                    ledger.used_steps);
}

}  // namespace inferdiff
