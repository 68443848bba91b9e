// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <map>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "compare/timeline.h"
#include "report/html_charts.h"
#include "report/html_kernels.h"
#include "report/html_page.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/html_timeline.h"
#include "report/ledger_facts.h"
#include "report/ledger_tables.h"
#include "report/ledger_text.h"
#include "report/page_parts.h"

namespace inferdiff {
namespace {

constexpr size_t kTop = 1000;  // kernels in a table of single ones

/// Verdict first: the sentences under the side's line.
std::string Hero(const LedgerResult& ledger, const Section& verdict) {
  std::string out = "<header class=\"hero\">\n";
  for (size_t i = 0; i < verdict.after.size(); ++i) {
    const std::string text = HtmlText(verdict.after[i]);
    if (i == 0) {
      out += fmt::format("<h1>{}</h1>\n", text);
    } else {
      out += fmt::format("<p class=\"{}\">{}</p>\n", i == 1 ? "lead" : "more",
                         text);
    }
  }
  const bool known = ledger.used_steps > 0;
  const Rational step = PerUsedStep(ledger, WholeOf(ledger));
  return out + "<div class=\"cards\">" +
         HtmlCard("", ledger, known ? Duration(step) : "no step",
                  !known              ? ""
                  : WallKnown(ledger) ? "a step"
                                      : "of GPU work a step") +
         "</div>\n</header>\n";
}

std::vector<std::string> CategoryLead(const LedgerResult& ledger) {
  std::vector<std::string> lead;
  for (const CategoryRow& row : CategoryRows(ledger))
    lead.push_back(HtmlSwatch(IdOf(row.category)));
  return lead;
}

std::string BodyOf(const LedgerResult& ledger, const Section& section) {
  if (section.id == "categories")
    return HtmlComposition(ledger) + HtmlSection(section, CategoryLead(ledger));
  if (section.id == "steps")
    return HtmlSteps(ledger, "") + HtmlSection(section);
  if (section.id == "ranks") return HtmlRanks(ledger) + HtmlSection(section);
  return HtmlSection(section);
}

std::vector<PagePart> Parts(const LedgerResult& ledger,
                            const Document& document) {
  static const std::map<std::string_view, std::string_view> kNav = {
      {"categories", "Categories"}, {"steps", "Steps"},
      {"cycles", "Cycles"},         {"roles", "Roles"},
      {"kernels", "Each kernel"},   {"calls", "Calls"},
      {"ranks", "Ranks"},           {"doubts", "Read with care"}};
  const SideTimeline timeline = TimelineOf(ledger);
  std::vector<PagePart> parts = {TimelinePart({{"", &timeline}})};
  std::map<std::string, int> seen;
  for (const Section& section : document.sections) {
    // They stand in the hero, in the table of families and at the end.
    if (section.id == "verdict" || section.id == "evidence" ||
        section.id == "provenance")
      continue;
    if (section.id == "families") {
      parts.push_back(
          {"families", "Kernels", "Kernels by category", HtmlKernels(ledger)});
      continue;
    }
    const auto nav = kNav.find(section.id);
    parts.push_back({HtmlId(section.id),
                     nav == kNav.end() ? "" : std::string(nav->second),
                     section.title, BodyOf(ledger, section)});
    if (const int n = ++seen[section.id]; n > 1) {
      parts.back().id += fmt::format("-{}", n);
      parts.back().nav.clear();
    }
    if (section.id == "doubts") parts.back().body += HtmlImports("", ledger);
  }
  parts.push_back(ProvenancePart({{"", &ledger}}));
  return parts;
}

}  // namespace

void WriteLedgerPage(const LedgerResult& ledger, const TextSink& sink) {
  const Document document = LedgerDocument(ledger, kTop);
  Page page;
  page.title = fmt::format("Ledger of {}", ledger.source.label);
  page.command = "ledger";
  page.hero = Hero(ledger, document.sections.front());
  page.parts = Parts(ledger, document);
  page.drawing = TimelineJson(ledger);
  WritePage(page, sink);
}

}  // namespace inferdiff
