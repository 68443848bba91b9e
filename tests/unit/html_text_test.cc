// SPDX-License-Identifier: Apache-2.0
#include "report/html_text.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "report/html_table.h"

namespace inferdiff {
namespace {

TEST(HtmlText, MarkupIsText) {
  EXPECT_EQ(HtmlEscaped("</script><b a=\"1\" c='2'>&amp;"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
  EXPECT_EQ(HtmlText("a < b `c<d>` & e"),
            "a &lt; b <code>c&lt;d&gt;</code> &amp; e");
}

TEST(HtmlText, BackticksThatDoNotPairStay) {
  EXPECT_EQ(HtmlText("a `b"), "a `b");
  EXPECT_EQ(HtmlText("``"), "<code></code>");
  EXPECT_EQ(HtmlText("`a` `"), "<code>a</code> `");
}

TEST(HtmlText, WhatHidesIsSpelledOut) {
  EXPECT_EQ(HtmlEscaped("a\u202eb\x1b[1m"), "a\\u202eb\\x1b[1m");
  EXPECT_EQ(HtmlEscaped(std::string("nul\0", 4)), "nul\\x00");
  EXPECT_EQ(HtmlEscaped("\xff"), "\ufffd");
}

TEST(HtmlText, LongNamesUnfold) {
  EXPECT_EQ(HtmlName("short<1>", 20), "<code>short&lt;1&gt;</code>");
  const std::string name = std::string(300, 'x') + "<end>";
  const std::string html = HtmlName(name, 20);
  EXPECT_NE(html.find("<details class=\"name\"><summary><code>xxx"),
            std::string::npos);
  EXPECT_NE(html.find(std::string(300, 'x') + "&lt;end&gt;</code></details>"),
            std::string::npos);
}

TEST(HtmlText, JsonEndsNoScript) {
  EXPECT_EQ(ScriptJson(R"({"a":"</script><!--"})"),
            R"({"a":"\u003c/script\u003e\u003c!--"})");
}

TEST(HtmlText, LengthsAreSharesOfTheWhole) {
  EXPECT_EQ(HtmlLength(1, 3), "33.33%");
  EXPECT_EQ(HtmlLength(3, 3), "100.00%");
  EXPECT_EQ(HtmlLength(-1, 1000), "-0.10%");
  EXPECT_EQ(HtmlLength(5, 0), "0%");
  EXPECT_EQ(HtmlLength(INT64_MAX, INT64_MAX), "100.00%");
}

TEST(HtmlText, IdsNeedNoQuoting) {
  EXPECT_EQ(HtmlId("moe gemm\"><b"), "moe-gemm---b");
}

size_t Count(const std::string& text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++n;
  return n;
}

TEST(HtmlTable, RowsAboveEachTotalHaveTheirOwnBody) {
  Table table;
  table.columns = {{"name", Align::kLeft}, {"ms"}};
  table.Add({"a", "1.0"});
  table.Add({"\u00b7 part of a", "0.5"});
  table.AddTotal({"half", "1.0"});
  table.Add({"b"});
  table.AddTotal({"all", "1.0"});
  const std::string html = HtmlTable(table, {"figures"});
  EXPECT_EQ(Count(html, "<tbody>"), 2U);
  EXPECT_EQ(Count(html, "<tr class=\"total\">"), 2U);
  EXPECT_EQ(Count(html, "<tr class=\"detail\"><th scope=\"row\">part of a"),
            1U);
  // A row with fewer cells than columns is as wide as the others.
  EXPECT_EQ(Count(html, "<td"), 5U);
}

TEST(HtmlSentences, DetailsStandUnderTheirSentence) {
  EXPECT_EQ(HtmlSentences({}), "");
  const std::string html =
      HtmlSentences({"one", "\u00b7 detail", "\u00b7 more", "two"});
  for (const std::string_view tag : {"ul", "li"}) {
    EXPECT_EQ(Count(html, fmt::format("<{}", tag)),
              Count(html, fmt::format("</{}>", tag)))
        << html;
  }
  EXPECT_EQ(Count(html, "<ul"), 2U);
  EXPECT_EQ(Count(html, "<li>"), 4U);
}

TEST(HtmlSentences, ADetailWithoutASentenceIsOne) {
  EXPECT_EQ(Count(HtmlSentences({"\u00b7 alone"}), "<ul"), 1U);
}

}  // namespace
}  // namespace inferdiff
