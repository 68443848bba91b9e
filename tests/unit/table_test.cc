// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <gtest/gtest.h>

#include "report/document.h"

namespace inferdiff {
namespace {

Table Sample() {
  Table table;
  table.columns = {{"Kernel", Align::kLeft, true, true}, {"ms"}, {"A/B"}};
  table.Add({"gemm", "10.25", "1.5"});
  table.Add({"a|b", "0.5", {"\u2014", Tint::kAhead}});
  table.AddTotal({"", "10.75", ""});
  return table;
}

TEST(TerminalTable, AlignsAtThePoint) {
  EXPECT_EQ(TerminalTable(Sample(), {}),
            "  Kernel     ms  A/B\n"
            "  gemm    10.25  1.5\n"
            "  a|b      0.5   \u2014\n"
            "          \u2500\u2500\u2500\u2500\u2500\n"
            "          10.75\n");
}

TEST(TerminalTable, ElidesTheElasticColumnOnly) {
  Table table = Sample();
  table.rows[0].cells[0].text = std::string(300, 'x');
  const std::string text = TerminalTable(table, {.width = 40});
  const std::string line = text.substr(text.find('x'));
  EXPECT_EQ(
      line.substr(0, line.find('\n')),
      std::string(17, 'x') + "\u2026" + std::string(8, 'x') + "  10.25  1.5");
}

// Two kernels of one library must not be printed as the same name.
TEST(TerminalTable, ShowsWhereTwoNamesDiffer) {
  Table table = Sample();
  const std::string head(40, 'h'), tail(40, 't');
  table.rows[0].cells[0].text = head + "_QKV_" + tail;
  table.rows[1].cells[0].text = head + "_reduce_" + tail;
  const std::string text = TerminalTable(table, {.width = 40});
  EXPECT_NE(text.find("\u2026QKV_ttt"), text.npos) << text;
  EXPECT_NE(text.find("\u2026reduce_ttt"), text.npos) << text;
  table.rows[1].cells[0].text = table.rows[0].cells[0].text;
  EXPECT_NE(TerminalTable(table, {.width = 40}).find("hhh\u2026ttt"),
            text.npos);
}

TEST(TerminalTable, TightensTheGapsOfAWideTable) {
  Table table;
  table.columns = {{"a", Align::kLeft}, {"b"}, {"c"}};
  table.Add({"1234", "1234", "1234"});
  EXPECT_EQ(TerminalTable(table, {.width = 18}),
            "  a        b     c\n"
            "  1234  1234  1234\n");
  EXPECT_EQ(TerminalTable(table, {.width = 17}),
            "  a       b    c\n"
            "  1234 1234 1234\n");
}

TEST(TerminalTable, ColourOnlyWhereTinted) {
  const std::string text = TerminalTable(Sample(), {.colour = true});
  EXPECT_NE(text.find("\x1b[32m"), std::string::npos);
  EXPECT_EQ(text.find("\x1b[31m"), std::string::npos);
}

TEST(TerminalTable, LeavesOutDetailWhereItIsNarrow) {
  Table table;
  table.columns = {{"kernel", Align::kLeft, true},
                   SpareColumn("p10"),
                   {"p50"},
                   SpareColumn("p90")};
  table.Add({"gemm", "1", "2"});  // fewer cells than columns
  table.Add({std::string(40, 'x'), "4", "5", "6"});
  EXPECT_NE(TerminalTable(table, {.width = 50}).find("p10"), std::string::npos);
  EXPECT_EQ(TerminalTable(table, {.width = 32}),
            "  kernel                     p50\n"
            "  gemm                         2\n"
            "  xxxxxxxxxxxxxxxx\u2026xxxxxxxx    5\n");
}

TEST(TerminalTable, NamespacesGiveWayFirst) {
  Table table;
  table.columns = {{"kernel", Align::kLeft, true, true}};
  table.Add({"at::native::elementwise_kernel<*MulFunctor*>"});
  table.Add({"at::native::elementwise_kernel<*AddFunctor*>"});
  EXPECT_EQ(TerminalTable(table, {.width = 36}),
            "  kernel\n"
            "  \u2026elementwise_kernel<*MulFunctor*>\n"
            "  \u2026elementwise_kernel<*AddFunctor*>\n");
}

TEST(MarkdownTable, EscapesCells) {
  EXPECT_EQ(MarkdownTable(Sample()),
            "| Kernel | ms | A/B |\n"
            "| --- | ---: | ---: |\n"
            "| `gemm` | 10.25 | 1.5 |\n"
            "| `a\\|b` | 0.5 | \u2014 |\n"
            "|  | **10.75** |  |\n");
}

TEST(MarkdownDocument, NamesWhatDoesNotFit) {
  Document document;
  document.sections.push_back({.title = "First", .before = {"one"}});
  document.sections.push_back(
      {.title = "Second", .before = {std::string(1500, 'x')}});
  for (int i = 0; i < 100; ++i) {
    document.sections.push_back(
        {.title = std::string(300, '<'), .before = {std::string(1500, 'x')}});
  }
  const std::string text = MarkdownDocument(document, 2000);
  EXPECT_LE(text.size(), 2000);
  EXPECT_NE(text.find("one"), std::string::npos);
  EXPECT_EQ(text.find("xxx"), std::string::npos);
  EXPECT_NE(text.find("Left out, to fit a pull-request comment: Second"),
            std::string::npos);
}

}  // namespace
}  // namespace inferdiff
