// SPDX-License-Identifier: Apache-2.0
#include "report/html_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "report/html_text.h"

namespace inferdiff {
namespace {

constexpr size_t kNameWidth = 64;  // columns of a name in a table

std::string_view TintClass(Tint tint) {
  constexpr std::string_view kClasses[] = {"", " ahead", " behind"};
  return kClasses[static_cast<size_t>(tint)];
}

bool IsDetail(const Row& row) {
  return !row.cells.empty() &&
         std::string_view(row.cells[0].text).starts_with(kDetailMark);
}

std::string CellText(const Column& column, std::string_view text) {
  if (text.empty()) return "";
  return column.code ? HtmlName(text, kNameWidth) : HtmlText(text);
}

std::string FirstCell(const Table& table, const Row& row,
                      const std::string& lead) {
  if (row.cells.empty()) return "<th scope=\"row\"></th>";
  std::string_view text = row.cells[0].text;
  if (IsDetail(row)) text.remove_prefix(kDetailMark.size());
  return fmt::format("<th scope=\"row\">{}{}</th>", lead,
                     CellText(table.columns[0], text));
}

std::string HtmlRow(const Table& table, const Row& row,
                    const std::string& lead) {
  const std::string_view classes = row.total       ? " class=\"total\""
                                   : IsDetail(row) ? " class=\"detail\""
                                                   : "";
  std::string out =
      fmt::format("<tr{}>{}", classes, FirstCell(table, row, lead));
  for (size_t c = 1; c < table.columns.size(); ++c) {
    const Cell cell = c < row.cells.size() ? row.cells[c] : Cell();
    const bool number = table.columns[c].align != Align::kLeft;
    out += fmt::format("<td class=\"{}{}\">{}</td>", number ? "n" : "t",
                       TintClass(cell.tint),
                       CellText(table.columns[c], cell.text));
  }
  return out + "</tr>\n";
}

std::string HtmlHead(const Table& table) {
  const bool any =
      std::any_of(table.columns.begin(), table.columns.end(),
                  [](const Column& c) { return !c.title.empty(); });
  if (!any) return "";
  std::string out = "<thead><tr>";
  for (const Column& column : table.columns) {
    const std::string_view look = column.align == Align::kLeft ? "t" : "n";
    // A heading without text is none to a screen reader.
    out += column.title.empty()
               ? fmt::format("<td class=\"{}\"></td>", look)
               : fmt::format("<th scope=\"col\" class=\"{}\">{}</th>", look,
                             HtmlText(column.title));
  }
  return out + "</tr></thead>\n";
}

}  // namespace

std::string HtmlTable(const Table& table, const HtmlTableLook& look) {
  std::string out = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{}\"><table class=\"figures\">\n{}<tbody>\n",
      HtmlEscaped(look.label), HtmlHead(table));
  for (size_t i = 0; i < table.rows.size(); ++i) {
    out += HtmlRow(table, table.rows[i],
                   i < look.lead.size() ? look.lead[i] : std::string());
    if (table.rows[i].total && i + 1 < table.rows.size())
      out += "</tbody><tbody>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string HtmlSentences(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string out = "<ul class=\"sentences\">\n";
  bool inner = false, open = false;
  for (const std::string& sentence : sentences) {
    std::string_view text = sentence;
    const bool detail = text.starts_with(kDetailMark) && open;
    if (detail) text.remove_prefix(kDetailMark.size());
    if (detail && !inner) out += "<ul>\n";
    if (!detail && inner) out += "</ul>";
    if (!detail && open) out += "</li>\n";
    out += fmt::format("<li>{}{}", HtmlText(text), detail ? "</li>\n" : "");
    inner = detail;
    open = true;
  }
  return out + (inner ? "</ul></li>\n</ul>\n" : "</li>\n</ul>\n");
}

std::string HtmlSection(const Section& section,
                        const std::vector<std::string>& lead) {
  std::string out = HtmlSentences(section.before);
  if (section.table) out += HtmlTable(*section.table, {section.title, lead});
  if (!section.after.empty())
    out += fmt::format("<div class=\"notes\">{}</div>\n",
                       HtmlSentences(section.after));
  return out;
}

// One colour a kind of work: more than a dozen cannot be told apart.
std::string_view ColourOf(std::string_view id) {
  constexpr std::pair<std::string_view, std::string_view> kColours[] = {
      {"communication", "comm"},
      {"moe", "moe"},
      {"moe_gemm", "moe"},
      {"moe_routing", "moe"},
      {"moe_quant_act", "moe"},
      {"attention", "attn"},
      {"attention_indexer", "attn"},
      {"kv_cache_write", "attn"},
      {"dense_gemm", "gemm"},
      {"quantization", "quant"},
      {"norm", "norm"},
      {"rope", "elem"},
      {"activation", "elem"},
      {"elementwise_memory", "elem"},
      {"sampling", "spec"},
      {"speculative_draft", "spec"},
      {"mhc", "spec"},
      {"copies", "copy"},
      {"memcpy", "copy"},
      {"memset", "copy"},
      {"rank_wait", "wait"},
      {"idle", "idle"},
      {"idle_inside", "idle"},
      {"foreign", "foreign"}};
  for (const auto& [name, colour] : kColours)
    if (name == id) return colour;
  return "other";
}

std::string HtmlSwatch(std::string_view id) {
  return fmt::format("<i class=\"swatch c-{}\"></i>", ColourOf(id));
}

}  // namespace inferdiff
