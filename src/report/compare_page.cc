// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <functional>
#include <map>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "compare/timeline.h"
#include "report/compare_report.h"
#include "report/compare_tables.h"
#include "report/html_charts.h"
#include "report/html_kernels.h"
#include "report/html_page.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/html_timeline.h"
#include "report/page_parts.h"
#include "report/rank_report.h"
#include "report/start_items.h"

namespace inferdiff {
namespace {

const Section* Find(const Document& document, std::string_view id) {
  for (const Section& section : document.sections)
    if (section.id == id) return &section;
  return nullptr;
}

/// The first sentence, and the rest. A figure's point has no blank behind it.
std::pair<std::string, std::string> SplitSentence(const std::string& text) {
  const size_t end = text.find(". ");
  if (end == std::string::npos) return {text, ""};
  return {text.substr(0, end + 1), text.substr(end + 2)};
}

std::string VerdictText(const CompareResult& result, const Document& document) {
  std::string out;
  const Section* verdict = Find(document, "verdict");
  if (verdict != nullptr && !verdict->before.empty()) {
    const auto [first, second] = SplitSentence(verdict->before.front());
    out = fmt::format("<h1>{}</h1>\n", HtmlText(first));
    if (!second.empty())
      out += fmt::format("<p class=\"lead\">{}</p>\n", HtmlText(second));
    for (size_t i = 1; i < verdict->before.size(); ++i)
      out += fmt::format("<p>{}</p>\n", HtmlText(verdict->before[i]));
    return out;
  }
  const bool fair = result.comparable.verdict != Comparability::kNo;
  return fmt::format("<h1>{}</h1>\n",
                     fair ? "No step of a side is left to compare."
                          : "These two do not compare.");
}

std::string Card(const CompareResult& result, Side side) {
  const LedgerResult& ledger = side == Side::kA ? result.a : result.b;
  const Rational total =
      side == Side::kA ? result.causes.a_total : result.causes.b_total;
  const bool known = total.num > 0;
  return HtmlCard(
      NameOf(side), ledger, known ? Duration(total) : "no step",
      known ? fmt::format("{}a step",
                          result.gap.basis == Basis::kWall
                              ? ""
                              : std::string(TitleOf(result.gap.basis)) + ", ")
            : "");
}

std::string Comparable(const CompareResult& result, const Section& sides) {
  const std::string_view look[] = {"yes", "reserved", "no"};
  std::string out =
      fmt::format("<div class=\"comparable {}\">",
                  look[static_cast<size_t>(result.comparable.verdict)]);
  for (const std::string& sentence : sides.after)
    out += fmt::format("<p>{}</p>", HtmlText(sentence));
  return out + "</div>\n";
}

std::string Hero(const CompareResult& result, const Document& document) {
  std::string out = "<header class=\"hero\">\n";
  out += VerdictText(result, document);
  out += "<div class=\"cards\">" + Card(result, Side::kA) +
         Card(result, Side::kB) + "</div>\n";
  if (const Section* sides = Find(document, "sides"))
    out += Comparable(result, *sides);
  return out + "</header>\n";
}

std::string StartList(const CompareResult& result) {
  std::string out = "<ol class=\"start\">\n";
  for (const StartItem& item : StartItems(result)) {
    const std::string gain = item.gain.empty() ? "To keep" : item.gain;
    out += fmt::format("<li><p class=\"gain\">{}</p><p>{}</p>", HtmlText(gain),
                       HtmlText(item.text));
    if (!item.gain.empty())
      out += fmt::format("<p class=\"advice\"><b>Try:</b> {}.</p>",
                         HtmlText(item.advice));
    if (!item.details.empty()) {
      out += "<ul>";
      for (const StartDetail& detail : item.details)
        out += fmt::format("<li><b>{}</b> {}</li>", HtmlText(detail.gain),
                           HtmlText(detail.text));
      out += "</ul>";
    }
    out += "</li>\n";
  }
  return out + "</ol>\n";
}

/// A square of its colour in front of each row of the table of categories.
std::vector<std::string> CategoryLead(const CompareResult& result,
                                      const Table& table) {
  std::vector<std::string> lead;
  for (const GroupComparison& group : result.groups) {
    lead.push_back(HtmlSwatch(ColourIdOf(result, group.whole.id)));
    for (const CategoryComparison& part : group.parts)
      lead.push_back(HtmlSwatch(part.id));
  }
  for (size_t i = lead.size(); i + 1 < table.rows.size(); ++i) {
    const std::string_view title = table.rows[i].cells[0].text;
    const bool idle = title.starts_with("idle") || title.starts_with("\u00b7");
    lead.push_back(HtmlSwatch(idle                        ? "idle"
                              : title.starts_with("rank") ? "rank_wait"
                                                          : "foreign"));
  }
  return lead;
}

/// Where a part of the gap is shown: its kernels, its lanes, its steps, or else
/// the table of categories, which is always there.
std::string TargetOf(const CompareResult& result, const Document& document,
                     std::string_view part) {
  constexpr std::string_view kWork = "work.";
  if (part.starts_with(kWork)) {
    const std::string kernels = KernelsId(result, part.substr(kWork.size()));
    return kernels.empty() ? "categories" : kernels;
  }
  std::string_view to = "categories";
  if (part == "concurrency") return "timeline";
  if (part.starts_with("overlap")) to = "causes";
  if (part == "rank_wait" || part == "idle") to = "steps";
  if (part == "rank_wait" &&
      (!result.a.ranks.empty() || !result.b.ranks.empty()))
    return "ranks";
  return Find(document, to) == nullptr ? "categories" : std::string(to);
}

PagePart PartOf(const CompareResult& result, const Document& document,
                const Section& section) {
  static const std::map<std::string_view, std::string_view> kNav = {
      {"gap", "The gap"},           {"start", "Start"},
      {"causes", "Causes"},         {"findings", "Findings"},
      {"cycles", "Cycles"},         {"machine", "Machine"},
      {"categories", "Categories"}, {"roles", "Roles"},
      {"dive", "Deep dive"},        {"role", "Role"},
      {"steps", "Steps"},           {"setup", "Set-up"},
      {"doubts", "Read with care"}};
  PagePart part{HtmlId(section.id), "", section.title, ""};
  if (const auto it = kNav.find(section.id); it != kNav.end())
    part.nav = it->second;
  if (section.id == "gap") {
    part.body = HtmlWaterfall(result, [&](std::string_view id) {
      return TargetOf(result, document, id);
    });
    part.body +=
        "<div class=\"notes\">" + HtmlSentences(section.after) + "</div>\n";
  } else if (section.id == "start") {
    part.body = StartList(result);
  } else if (section.id == "categories") {
    part.body = HtmlComposition(result) +
                HtmlSection(section, CategoryLead(result, *section.table));
  } else if (section.id == "steps") {
    part.body = HtmlSteps(result.a, "A") + HtmlSteps(result.b, "B") +
                HtmlSection(section);
  } else {
    part.body = HtmlSection(section);
  }
  return part;
}

void AddRanks(const CompareResult& result, std::vector<PagePart>* parts) {
  PagePart part{"ranks", "Ranks", "Ranks: wait and transfer", ""};
  for (const auto& [side, ledger] :
       {std::pair{"A", &result.a}, std::pair{"B", &result.b}}) {
    for (const Section& section : RankSections(*ledger))
      part.body += fmt::format(
          "<h3><b class=\"side {0}\">{0}</b> {1}</h3>\n{2}{3}", side,
          HtmlText(section.title), HtmlRanks(*ledger), HtmlSection(section));
  }
  if (!part.body.empty()) parts->push_back(std::move(part));
}

/// Sections that the page puts elsewhere, or has more of.
bool IsElsewhere(std::string_view id) {
  for (const std::string_view other :
       {"sides", "verdict", "kernels-a", "kernels-b", "provenance"})
    if (id == other) return true;
  return false;
}

std::vector<PagePart> Parts(const CompareResult& result,
                            const Document& document) {
  std::vector<PagePart> parts;
  const Timeline timeline = TimelineOf(result);
  PagePart drawn = TimelinePart({{"A", &timeline.a}, {"B", &timeline.b}});
  bool has_drawn = false;
  const auto add_drawn = [&] {
    if (!std::exchange(has_drawn, true)) parts.push_back(std::move(drawn));
  };
  std::map<std::string, int> seen;
  for (const Section& section : document.sections) {
    if (IsElsewhere(section.id)) continue;
    if (section.id != "gap") add_drawn();
    parts.push_back(PartOf(result, document, section));
    if (const int n = ++seen[section.id]; n > 1) {
      parts.back().id += fmt::format("-{}", n);
      parts.back().nav.clear();
    }
    if (section.id == "categories") {
      if (std::string kernels = HtmlKernels(result); !kernels.empty())
        parts.push_back(
            {"kernels", "Kernels", "Kernels by category", std::move(kernels)});
    }
    if (section.id == "steps") AddRanks(result, &parts);
    if (section.id == "doubts")
      parts.back().body +=
          HtmlImports("A", result.a) + HtmlImports("B", result.b);
  }
  parts.push_back(ProvenancePart({{"A", &result.a}, {"B", &result.b}}));
  return parts;
}

}  // namespace

void WriteComparePage(const CompareResult& result, const TextSink& sink) {
  const Document document = CompareDocument(result);
  Page page;
  page.title = fmt::format("{} against {}", result.a.source.label,
                           result.b.source.label);
  page.command = "compare";
  page.hero = Hero(result, document);
  page.parts = Parts(result, document);
  page.drawing = TimelineJson(result);
  WritePage(page, sink);
}

}  // namespace inferdiff
