// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace inferdiff {
namespace {

TEST(Printable, DisarmsWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\x1b[31mb\n\t\x7f"), "a\\x1b[31mb\\x0a\\x09\\x7f");
  EXPECT_EQ(Printable("a\u202eb\u200b"), "a\\u202eb\\u200b");
  EXPECT_EQ(Printable("\u009b31m"), "\\x9b31m");  // one-character escape
  EXPECT_EQ(Printable("gr\u00fc\u00df \u6838"), "gr\u00fc\u00df \u6838");
}

TEST(Printable, ReplacesInvalidUtf8) {
  EXPECT_EQ(Printable("a\xff"
                      "b\xc3"),
            "a\ufffd"
            "b\ufffd");
  EXPECT_EQ(Printable("\xc0\xaf"), "\ufffd\ufffd");                 // overlong
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");       // surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80").substr(0, 3), "\ufffd");  // > 10ffff
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3U);
  EXPECT_EQ(DisplayWidth("\u00b5s"), 2U);
  EXPECT_EQ(DisplayWidth("\u6838\u5fc3"), 4U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);
}

TEST(ElideMiddle, KeepsHeadAndTail) {
  EXPECT_EQ(ElideMiddle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(ElideMiddle("abcdefghij", 7), "abcd\u2026ij");
  EXPECT_EQ(ElideMiddle("abc", 1), "\u2026");
  EXPECT_EQ(ElideMiddle("abc", 0), "");
  for (size_t width = 0; width < 12; ++width) {
    EXPECT_LE(DisplayWidth(ElideMiddle(
                  "\u6838\u5fc3\u6838\u5fc3 e\u0301e\u0301", width)),
              width);
  }
}

TEST(Wrap, BreaksAtSpaces) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Wrap("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(Wrap("overlong word", 4), (Lines{"overlong", "word"}));
  EXPECT_EQ(Wrap("", 4), Lines{});
}

TEST(Wrap, KeepsAUnitWithItsNumber) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Wrap("takes 37 % of it", 9), (Lines{"takes", "37 % of", "it"}));
  EXPECT_EQ(Wrap("takes 37 \u00b5s, more", 9),
            (Lines{"takes", "37 \u00b5s,", "more"}));
  EXPECT_EQ(Wrap("one two \u00b7 six", 8), (Lines{"one", "two \u00b7", "six"}));
}

TEST(MarkdownCode, NothingInsideIsMarkup) {
  EXPECT_EQ(MarkdownCode("k<a|b>*", true), "`k<a\\|b>*`");
  EXPECT_EQ(MarkdownCode("k|"), "`k|`");
  EXPECT_EQ(MarkdownCode("a``b"), "``` a``b ```");
  EXPECT_EQ(MarkdownCode("a\nb"), "`a\\x0ab`");
  EXPECT_EQ(MarkdownCode(""), "");
}

TEST(MarkdownText, EscapesProseAndKeepsCode) {
  EXPECT_EQ(MarkdownText("a*b <img> [x](y) & z"),
            "a\\*b &lt;img&gt; \\[x\\](y) &amp; z");
  EXPECT_EQ(MarkdownText("run `a_b<c>` now"), "run `a_b<c>` now");
  EXPECT_EQ(MarkdownText("lone ` tick"), "lone \\` tick");
  EXPECT_EQ(MarkdownText("hi @someone"), "hi `@`someone");
  EXPECT_EQ(MarkdownText(Quoted("a`<script>`")), "`a'<script>'`");
}

TEST(TsvField, OneLineOneField) {
  EXPECT_EQ(TsvField("a\tb\nc\\d\re\x01"), "a\\tb\\nc\\\\d\\re\\x01");
  EXPECT_EQ(TsvField(""), "");
}

}  // namespace
}  // namespace inferdiff
