// SPDX-License-Identifier: Apache-2.0
// A table, and its two layouts for people: terminal and Markdown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inferdiff {

enum class Align : uint8_t {
  kLeft,
  kRight,
  kPoint,  // numbers: decimal points in one column, units behind allowed
};

/// Colour has one job: to tell who is ahead.
enum class Tint : uint8_t { kPlain, kAhead, kBehind };

struct Column {
  std::string title;
  Align align = Align::kPoint;
  /// Text that gives way, elided in the middle, when the table is too wide.
  /// At most one or two columns of a table.
  bool elastic = false;
  bool code = false;   // Markdown: kernel names and the like as code spans
  bool spare = false;  // detail that a narrow terminal does without
};

inline Column SpareColumn(std::string title) {
  return {std::move(title), Align::kPoint, false, false, true};
}

/// Text as it came: the layouts escape it.
struct Cell {
  Cell() = default;
  Cell(std::string text_in, Tint tint_in = Tint::kPlain)
      : text(std::move(text_in)), tint(tint_in) {}
  Cell(std::string_view text_in) : text(text_in) {}
  Cell(const char* text_in) : text(text_in) {}

  std::string text;
  Tint tint = Tint::kPlain;
};

struct Row {
  std::vector<Cell> cells;  // fewer than columns: the rest is empty
  bool total = false;       // a rule above it; bold in Markdown
};

struct Table {
  std::vector<Column> columns;  // all titles empty: no header line
  std::vector<Row> rows;

  void Add(std::vector<Cell> cells) { rows.push_back({std::move(cells)}); }
  void AddTotal(std::vector<Cell> cells) {
    rows.push_back({std::move(cells), true});
  }
};

struct TerminalStyle {
  size_t width = 100;
  size_t indent = 2;
  bool colour = false;
};

/// Lines ending in '\n', no trailing blanks:
///
///     Category              ms      %
///     attention          1.420   21.4
///     MoE expert GEMM    0.810   12.2
std::string TerminalTable(const Table& table, const TerminalStyle& style);

/// A GitHub table. Elastic cells are elided to 80 columns.
std::string MarkdownTable(const Table& table);

}  // namespace inferdiff
