// SPDX-License-Identifier: Apache-2.0
#include "report/page_parts.h"

#include <fmt/core.h>

#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "base/version.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/ledger_facts.h"

namespace inferdiff {
namespace {

struct Definition {
  std::string_view word, meaning;
};

constexpr Definition kDefinitions[] = {
    {"step",
     "one forward pass of the engine. Every figure is per step of one "
     "rank and device, a mean over the used steps unless it says "
     "otherwise"},
    {"wall",
     "from the step's first operation on its forward lane to the next "
     "step's first"},
    {"sum",
     "durations added up, clipped to the step; larger than busy where "
     "operations overlap"},
    {"busy", "the part of the wall in which the step's operations run"},
    {"attributed",
     "what one operation owns: each nanosecond has one owner, "
     "lanes that run at once share it equally. Attributed of all "
     "+ foreign + idle = wall, checked in nanoseconds"},
    {"hidden", "sum minus attributed: what runs behind other operations"},
    {"rank wait",
     "the head of a collective, while other ranks have not come "
     "yet. From one rank it is a lower bound"},
    {"foreign", "other steps' operations, where none of the step's own runs"},
    {"idle",
     "the device runs nothing: inside graph replays, or outside by "
     "what it waits for"},
    {"the gap",
     "difference of walls = work + rank wait + concurrency + foreign "
     "+ idle, exactly. Work is sum without rank wait and without "
     "the waits of early starts, plus idle inside replays"},
    {"\u2264 \u2265 \u2248",
     "a bound from above, from below, an estimate. No "
     "bound is ranked as a prize"},
};

std::string DefinitionList() {
  std::string out = "<dl class=\"words\">";
  for (const Definition& definition : kDefinitions)
    out += fmt::format("<div><dt>{}</dt><dd>{}.</dd></div>\n", definition.word,
                       definition.meaning);
  return out + "</dl>\n";
}

}  // namespace

std::string HtmlCard(std::string_view side, const LedgerResult& ledger,
                     const std::string& figure, std::string_view what) {
  const std::string mark =
      side.empty() ? "" : fmt::format("<b class=\"side {0}\">{0}</b>", side);
  return fmt::format(
      "<div class=\"card {}\"><p class=\"who\">{}<span class=\"label\">{}"
      "</span></p><p class=\"figure\">{} <small>{}</small></p>"
      "<p class=\"facts\">{}</p></div>\n",
      side, mark, HtmlEscaped(ElideMiddle(Printable(ledger.source.label), 60)),
      HtmlText(figure), HtmlText(what), HtmlText(SideFacts(ledger)));
}

PagePart TimelinePart(
    const std::vector<std::pair<std::string, const SideTimeline*>>& sides) {
  PagePart part{"timeline", sides.size() == 1 ? "Timeline" : "Timelines",
                "The representative step, op by op", ""};
  std::string drawn;
  for (const auto& [name, side] : sides) {
    if (!side->absent.empty()) {
      const std::string of = name.empty() ? "" : name + ": ";
      part.body += fmt::format("<p class=\"aside\">{}</p>\n",
                               HtmlText(of + side->absent));
      continue;
    }
    drawn += fmt::format("{}step {}{}{}", drawn.empty() ? "" : " and ",
                         side->step, name.empty() ? "" : " of " + name,
                         side->rank.empty() ? "" : ", " + Quoted(side->rank));
  }
  if (drawn.empty()) return part;
  part.body += fmt::format(
      "<p class=\"aside\">Of the used steps that of median time: {}.</p>\n"
      "<div id=\"timelines\"></div><noscript><p class=\"aside\">The timeline "
      "is drawn by the page's script, which is switched off here. Every figure "
      "stands in the tables below.</p></noscript>\n",
      HtmlText(drawn));
  return part;
}

std::string HtmlImports(std::string_view side, const LedgerResult& ledger) {
  Table table;
  table.columns = {{"what the reader saw", Align::kLeft},
                   {"records", Align::kRight},
                   {"weight", Align::kLeft},
                   {"id", Align::kLeft, false, true}};
  for (const ImportRow& row : ImportRows(ledger.source.counters)) {
    table.Add({row.sentence, Grouped(static_cast<int64_t>(row.count)),
               row.severity == Severity::kDataLoss ? "data loss"
                                                   : SeverityId(row.severity),
               row.id});
  }
  if (table.rows.empty()) return "";
  return fmt::format("<h3>Records{}</h3>\n{}",
                     side.empty() ? "" : fmt::format(" of {}", side),
                     HtmlTable(table, {fmt::format("Records {}", side)}));
}

PagePart ProvenancePart(
    const std::vector<std::pair<std::string, const LedgerResult*>>& sides) {
  PagePart part{"provenance", "Method", "How each number was obtained", ""};
  Table inputs;
  inputs.columns = {{"input", Align::kLeft},
                    {"format", Align::kLeft},
                    {"size", Align::kRight},
                    {"crc32", Align::kLeft, false, true}};
  std::string evidence;
  for (const auto& [side, ledger] : sides) {
    const Provenance& source = ledger->source;
    inputs.Add({side.empty() ? source.label
                             : fmt::format("{}  {}", side, source.label),
                source.format, Bytes(source.size_bytes),
                fmt::format("{:08x}", source.crc32)});
    if (ledger->published) continue;
    evidence += fmt::format("<h3>How the steps{} were found</h3>\n{}",
                            side.empty() ? "" : fmt::format(" of {}", side),
                            HtmlSentences(StepEvidence(
                                ledger->steps, ledger->group, ledger->ranks)));
  }
  part.body = HtmlTable(inputs, {"Inputs"});
  part.body += fmt::format(
      "<p>inferdiff <code>{}</code>, rules <code>{}</code>. The same inputs "
      "give the same page, byte for byte.</p>\n",
      Version(), HtmlEscaped(sides.front().second->source.rules_hash));
  part.body += evidence + "<h3>Words</h3>\n" + DefinitionList();
  return part;
}

}  // namespace inferdiff
