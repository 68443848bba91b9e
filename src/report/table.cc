// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/text.h"

namespace inferdiff {
namespace {

constexpr size_t kGap = 2;         // blanks between columns
constexpr size_t kTightGap = 1;    // where the table is too wide otherwise
constexpr size_t kNarrowest = 12;  // an elastic column never gets less
constexpr size_t kReadable = 22;   // spare columns give way before it does
constexpr size_t kMarkdownElastic = 80;

std::string Blanks(size_t n) { return std::string(n, ' '); }

bool HasHeader(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const Column& c) { return !c.title.empty(); });
}

// Columns behind the decimal point, the point included: "1.42 ms" has 6.
size_t BehindPoint(std::string_view number) {
  const size_t point = number.find('.');
  if (point != std::string_view::npos)
    return DisplayWidth(number.substr(point));
  const size_t unit = number.find(' ');
  return unit == std::string_view::npos ? 0 : DisplayWidth(number.substr(unit));
}

// A column's cells as text, numbers padded behind to a common point.
std::vector<std::string> ColumnText(const Table& table, size_t column) {
  std::vector<std::string> texts;
  size_t behind = 0;
  const bool by_point = table.columns[column].align == Align::kPoint;
  for (const Row& row : table.rows) {
    texts.push_back(
        column < row.cells.size() ? Printable(row.cells[column].text) : "");
    if (by_point) behind = std::max(behind, BehindPoint(texts.back()));
  }
  if (!by_point) return texts;
  for (std::string& text : texts)
    if (!text.empty()) text += Blanks(behind - BehindPoint(text));
  return texts;
}

struct Grid {
  std::vector<std::vector<std::string>> columns;  // [column][row]
  std::vector<size_t> widths;
  size_t gap = kGap;
};

// Takes the overflow from the widest elastic column until the table fits; at
// last from the gaps.
void Squeeze(const Table& table, size_t room, Grid& grid) {
  size_t total = kGap * (grid.widths.size() - 1);
  for (const size_t width : grid.widths) total += width;
  while (total > room) {
    size_t widest = grid.widths.size();
    for (size_t c = 0; c < grid.widths.size(); ++c) {
      if (!table.columns[c].elastic || grid.widths[c] <= kNarrowest) continue;
      if (widest == grid.widths.size() || grid.widths[c] > grid.widths[widest])
        widest = c;
    }
    if (widest == grid.widths.size()) {
      grid.gap = kTightGap;
      return;
    }
    --grid.widths[widest];
    --total;
  }
}

size_t TitleWidth(const Table& table, size_t column) {
  return DisplayWidth(Printable(table.columns[column].title));
}

// Whether it fits with its elastic columns still readable; without such, with
// narrow gaps.
bool FitsReadably(const Table& table, size_t room) {
  const bool gives =
      std::any_of(table.columns.begin(), table.columns.end(),
                  [](const Column& column) { return column.elastic; });
  const size_t gap = gives ? kGap : kTightGap;
  size_t total = 0;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    size_t width = TitleWidth(table, c);
    for (const std::string& text : ColumnText(table, c))
      width = std::max(width, DisplayWidth(text));
    if (table.columns[c].elastic) width = std::min(width, kReadable);
    total += width + (c > 0 ? gap : 0);
  }
  return total <= room;
}

Table WithoutSpares(Table table) {
  for (size_t c = table.columns.size(); c-- > 0;) {
    if (!table.columns[c].spare) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (Row& row : table.rows)
      if (c < row.cells.size()) row.cells.erase(row.cells.begin() + at);
  }
  return table;
}

// The namespaces of a kernel give way first: they tell no two rows apart.
std::string Elide(const Column& column, const std::string& text, size_t width) {
  if (!column.code || DisplayWidth(text) <= width)
    return ElideMiddle(text, width);
  const std::string head = text.substr(0, text.find_first_of("<("));
  const size_t space = head.rfind("::");
  if (space == std::string::npos) return ElideMiddle(text, width);
  return ElideMiddle(std::string(kEllipsis) + text.substr(space + 2), width);
}

// Where the word begins in which these rows of a column first differ; npos if
// they are all the same.
size_t FirstDifference(const std::vector<std::string>& texts,
                       const std::vector<size_t>& rows) {
  const std::string& first = texts[rows.front()];
  size_t common = std::string::npos;
  for (const size_t row : rows) {
    const std::string& other = texts[row];
    if (other == first) continue;
    const size_t most = std::min({first.size(), other.size(), common});
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(most);
    common = static_cast<size_t>(
        std::mismatch(first.begin(), end, other.begin()).first - first.begin());
  }
  if (common == std::string::npos || common == 0) return common;
  constexpr size_t kLongWord = 12;
  const size_t before = first.find_last_of("_:<, ", common - 1);
  if (before != std::string::npos && common - before <= kLongWord)
    return before + 1;
  // Not inside a character of several bytes.
  while (common > 0 &&
         (static_cast<unsigned char>(first[common]) & 0xC0) == 0x80)
    --common;
  return common;
}

// Names that would look alike lose their common head instead of their middle:
// kernels of one library differ late.
void ElideColumn(const Column& column, size_t width,
                 std::vector<std::string>* texts) {
  const std::vector<std::string> whole = *texts;
  std::map<std::string, std::vector<size_t>> alike;
  for (size_t row = 0; row < whole.size(); ++row) {
    (*texts)[row] = Elide(column, whole[row], width);
    alike[(*texts)[row]].push_back(row);
  }
  for (const auto& [text, rows] : alike) {
    const size_t at =
        rows.size() > 1 ? FirstDifference(whole, rows) : std::string::npos;
    if (at == std::string::npos) continue;
    for (const size_t row : rows)
      (*texts)[row] =
          ElideMiddle(kEllipsis.data() + whole[row].substr(at), width);
  }
}

Grid Measure(const Table& table, size_t room) {
  Grid grid;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    grid.columns.push_back(ColumnText(table, c));
    size_t width = TitleWidth(table, c);
    for (const std::string& text : grid.columns.back())
      width = std::max(width, DisplayWidth(text));
    // No terminal is wider than this; it bounds the squeezing.
    if (table.columns[c].elastic) width = std::min(width, room);
    grid.widths.push_back(width);
  }
  Squeeze(table, room, grid);
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].elastic) continue;
    ElideColumn(table.columns[c], grid.widths[c], &grid.columns[c]);
  }
  return grid;
}

std::string Aligned(std::string_view text, size_t width, Align align) {
  const size_t used = DisplayWidth(text);
  const std::string pad = Blanks(width - std::min(width, used));
  return align == Align::kLeft ? std::string(text) + pad
                               : pad + std::string(text);
}

std::string Tinted(std::string text, Tint tint, bool colour) {
  if (!colour || tint == Tint::kPlain) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", tint == Tint::kAhead ? 32 : 31, text);
}

void EndLine(std::string& out) {
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

// A rule under each number column of the rows a total adds up.
std::string RuleLine(const Table& table, const Row& row, const Grid& grid) {
  std::string line;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) line += Blanks(grid.gap);
    const bool ruled = table.columns[c].align != Align::kLeft &&
                       c < row.cells.size() && !row.cells[c].text.empty();
    for (size_t i = 0; i < grid.widths[c]; ++i) line += ruled ? "\u2500" : " ";
  }
  return line;
}

std::string MarkdownCell(const Column& column, const Row& row, size_t c) {
  if (c >= row.cells.size()) return "";
  std::string text = row.cells[c].text;
  if (column.elastic) text = Elide(column, Printable(text), kMarkdownElastic);
  if (column.code) return MarkdownCode(text, true);
  text = MarkdownText(text, true);
  return row.total && !text.empty() ? fmt::format("**{}**", text) : text;
}

}  // namespace

std::string TerminalTable(const Table& whole, const TerminalStyle& style) {
  const size_t room = style.width - std::min(style.width, style.indent);
  const Table table = FitsReadably(whole, room) ? whole : WithoutSpares(whole);
  const Grid grid = Measure(table, room);
  std::string out;
  const auto line = [&](const auto& cell_of) {
    out += Blanks(style.indent);
    for (size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) out += Blanks(grid.gap);
      out += cell_of(c);
    }
    EndLine(out);
  };
  if (HasHeader(table)) {
    line([&](size_t c) {
      return Aligned(Printable(table.columns[c].title), grid.widths[c],
                     table.columns[c].align);
    });
  }
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const Row& row = table.rows[r];
    if (row.total) {
      out += Blanks(style.indent) + RuleLine(table, row, grid);
      EndLine(out);
    }
    line([&](size_t c) {
      const Tint tint = c < row.cells.size() ? row.cells[c].tint : Tint::kPlain;
      return Tinted(
          Aligned(grid.columns[c][r], grid.widths[c], table.columns[c].align),
          tint, style.colour);
    });
  }
  return out;
}

std::string MarkdownTable(const Table& table) {
  std::string out = "|";
  for (const Column& column : table.columns)
    out += fmt::format(" {} |", MarkdownText(column.title, true));
  out += "\n|";
  for (const Column& column : table.columns)
    out += column.align == Align::kLeft ? " --- |" : " ---: |";
  out += '\n';
  for (const Row& row : table.rows) {
    out += '|';
    for (size_t c = 0; c < table.columns.size(); ++c)
      out += fmt::format(" {} |", MarkdownCell(table.columns[c], row, c));
    out += '\n';
  }
  return out;
}

}  // namespace inferdiff
