// SPDX-License-Identifier: Apache-2.0
#include "report/compare_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/text.h"
#include "compare_fixture.h"
#include "report/compare_tables.h"

namespace inferdiff {
namespace {

/// Names that a stranger's file may hold.
const std::vector<std::string> kHostile = {
    "\x1b[2Jclear",          "a|b|c",
    "line\nbreak\tand tab",  "</details><script>",
    "`tick` ``two``",        "\u202egnp.exe",
    "bad \xff\xfe utf8",     "@someone #1 [x](http://y)",
    std::string(20'000, 'x')};

FakeLedger HostileLedger(int64_t scale) {
  FakeLedger ledger(7);
  int64_t i = 0;
  for (const std::string& name : kHostile) {
    ledger.Kernel(name, static_cast<Category>(i % 18), 7 + i,
                  scale * (1'000'003 + 7 * i), i, 2 * i);
    ++i;
  }
  ledger.Walls(11 * scale, 200'001 * scale, 5 * scale);
  Provenance& source = ledger.get().source;
  source.label = kHostile[0] + kHostile[3];
  source.framework_hint = {kHostile[2], HintBasis::kMarkerForm};
  source.info.gpu_name = kHostile[5];
  source.info.runtime_version = kHostile[8];
  return ledger;
}

CompareResult HostileResult() {
  CompareOptions options;
  options.category = FindCategoryGroup("moe");
  return Compare(std::move(HostileLedger(3).get()),
                 {{"model", kHostile[4]}, {"dtype", kHostile[1]}},
                 std::move(HostileLedger(2).get()),
                 {{"model", kHostile[4]}, {"dtype", kHostile[7]}}, options);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::string line;
  std::istringstream stream(text);
  while (std::getline(stream, line)) lines.push_back(line);
  return lines;
}

TEST(CompareReport, TerminalIsSafeAndFits) {
  const std::string text = TerminalText(CompareDocument(HostileResult()), {});
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c < 0 || c >= ' '));
  size_t wide = 0;
  for (const std::string& line : Lines(text)) {
    // A word is never cut: a name of 20 kB in a sentence is the exception.
    if (DisplayWidth(line) > 100) ++wide;
    EXPECT_TRUE(DisplayWidth(line) <= 100 || line.find("xxxx") != line.npos)
        << line;
  }
  EXPECT_LE(wide, 4u);
}

/// Markdown without its code spans, in which nothing has a meaning.
std::string OutsideCode(const std::string& markdown) {
  std::string out;
  for (const std::string& line : Lines(markdown)) {
    bool code = false;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '`') {
        while (i + 1 < line.size() && line[i + 1] == '`') ++i;
        code = !code;
      } else if (!code) {
        out += line[i];
      }
    }
    out += '\n';
  }
  return out;
}

TEST(CompareReport, MarkdownFitsAComment) {
  FakeLedger many = HostileLedger(3);
  for (int i = 0; i < 3000; ++i)
    many.Kernel(std::string(300, 'k') + std::to_string(i), Category::kDenseGemm,
                7, 700);
  many.Walls(1, 2, 3);
  const std::string text = MarkdownDocument(CompareDocument(Compare(
      std::move(many.get()), {}, std::move(HostileLedger(2).get()), {}, {})));
  EXPECT_LT(text.size(), 60'000u);
  const std::string outside = OutsideCode(text);
  EXPECT_EQ(outside.find("<script>"), text.npos);
  EXPECT_EQ(outside.find("@someone"), text.npos);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_NE(text.find("<details>"), text.npos);
}

TEST(CompareReport, TsvHasFiveColumns) {
  for (const std::string& line : Lines(CompareTsvText(HostileResult()))) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'),
              line.starts_with('#') ? 0 : 4)
        << line;
  }
}

TEST(CompareReport, JsonAddsUp) {
  std::string text;
  WriteCompareJson(HostileResult(),
                   [&](std::string_view piece) { text += piece; });
  const auto json = nlohmann::json::parse(text);
  const auto& gap = json["gap"];
  int64_t parts = 0;
  for (const char* part :
       {"work", "rank_wait", "concurrency", "foreign", "idle"})
    parts += gap[part].get<int64_t>();
  EXPECT_EQ(parts, gap["wall"].get<int64_t>());
  int64_t waterfall = 0;
  for (const auto& part : json["gap_parts"])
    waterfall += part["delta_ns"].get<int64_t>();
  EXPECT_EQ(waterfall, gap["wall"].get<int64_t>());
  for (const char* side : {"a", "b"}) {
    const auto& totals = json[std::string(side) + "_totals"];
    int64_t sum = 0;
    for (const auto& row : json["categories"]) {
      if (row.contains("pseudo")) continue;
      sum += row[side]["attributed_ns"].get<int64_t>();
    }
    EXPECT_EQ(sum + totals["foreign_ns"].get<int64_t>() +
                  totals["idle_inside_ns"].get<int64_t>() +
                  totals["idle_outside_ns"].get<int64_t>(),
              totals["wall_ns"].get<int64_t>());
    EXPECT_TRUE(json[side].contains("per_step"));
  }
}

/// "1.234" -> 1234; a dash or nothing -> 0.
int64_t Digits(const std::string& text) {
  if (text.starts_with('<')) return 0;
  int64_t value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = 10 * value + (c - '0');
  }
  return value;
}

/// Every printed column adds up, parts to their group and groups to the
/// total, and no sum is smaller than the time beside it.
void ExpectAddsUp(const Table& table) {
  const auto part = [](const Row& row) {
    return row.cells[0].text.starts_with("\u00b7");
  };
  for (const size_t column :
       {size_t{1}, size_t{2}, size_t{3}, size_t{5}, size_t{6}, size_t{7}}) {
    int64_t sum = 0;
    for (size_t i = 0; i + 1 < table.rows.size(); ++i) {
      const Row& row = table.rows[i];
      if (!part(row)) sum += Digits(row.cells[column].text);
      int64_t parts = 0;
      size_t j = i + 1;
      for (; j < table.rows.size() && part(table.rows[j]); ++j)
        parts += Digits(table.rows[j].cells[column].text);
      if (!part(row) && j > i + 1) {
        EXPECT_EQ(parts, Digits(row.cells[column].text)) << row.cells[0].text;
      }
    }
    EXPECT_EQ(sum, Digits(table.rows.back().cells[column].text)) << column;
  }
  for (const Row& row : table.rows) {
    // The total's time holds idle, its sum does not.
    if (row.total || row.cells[3].text.empty()) continue;
    EXPECT_GE(Digits(row.cells[3].text), Digits(row.cells[1].text));
  }
}

/// Totals are the exact ones, rounded; the sum column's too.
void ExpectExactTotals(const Table& table, const CompareResult& result) {
  const TableUnit unit = UnitOf(result);
  const std::vector<Cell>& total = table.rows.back().cells;
  const auto text = [&](const SideTotals& side, int64_t ns) {
    return unit.Print(side.PerStep(ns));
  };
  const SideTotals &a = result.a_totals, &b = result.b_totals;
  EXPECT_EQ(total[1].text, text(a, a.headline_ns));
  EXPECT_EQ(total[3].text, text(a, a.all.sum_ns));
  EXPECT_EQ(total[5].text, text(b, b.headline_ns));
  EXPECT_EQ(total[7].text, text(b, b.all.sum_ns));
}

/// "N more" holds the rest: the rows add up to the attributed time, whatever
/// their number.
void ExpectFamiliesAddUp(const CompareResult& result) {
  const SideTotals& a = result.a_totals;
  const std::string busy = UnitOf(result).Print(a.PerStep(a.all.attributed_ns));
  for (const size_t rows : {size_t{1}, size_t{3}, size_t{99}}) {
    int64_t sum = 0;
    for (const Row& row :
         FamilyTable(result, Side::kA, result.a_families, rows).rows)
      sum += Digits(row.cells[1].text);
    EXPECT_EQ(sum, Digits(busy)) << rows;
  }
}

TEST(CompareReport, PrintedColumnsAddUp) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto ledger = [&] {
      FakeLedger side(1 + static_cast<int64_t>(random() % 9));
      for (int64_t i = 0; i < 12; ++i) {
        const auto sum = static_cast<int64_t>(100 + random() % 3'000'000);
        side.Kernel(std::string(static_cast<size_t>(i + 1), 'k'),
                    static_cast<Category>(random() % kCategoryCount), 3, sum,
                    static_cast<int64_t>(random() % 30),
                    static_cast<int64_t>(random() % 30));
      }
      side.Walls(static_cast<int64_t>(random() % 9'999),
                 static_cast<int64_t>(random() % 99'999),
                 static_cast<int64_t>(random() % 99));
      return side;
    };
    const CompareResult result = Compare(std::move(ledger().get()), {},
                                         std::move(ledger().get()), {}, {});
    ExpectAddsUp(CategoryTable(result));
    ExpectExactTotals(CategoryTable(result), result);
    ExpectFamiliesAddUp(result);
  }
}

}  // namespace
}  // namespace inferdiff
