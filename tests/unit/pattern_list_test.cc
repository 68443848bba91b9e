// SPDX-License-Identifier: Apache-2.0
#include "classify/pattern_list.h"

#include <gtest/gtest.h>

namespace inferdiff {
namespace {

TEST(RequiredLiteral, IsInEveryMatch) {
  struct Case {
    const char* pattern;
    const char* literal;
  };
  const Case cases[] = {
      {"moe_gemm", "moe_gemm"},
      {"^bmm_\\w*_dynB", "_dynb"},
      {"(?i)All_?Reduce", "reduce"},
      {"a|b", ""},
      {"(abc|def)gh", "gh"},
      {"ab[cd]efg", "efg"},
      {"abc{2}de", "ab"},
      {"abc+de", "abc"},
      {"\\bnvjet_", "nvjet_"},
      {"\\x41bcd", ""},
      {"a\\.bcd", "a.bcd"},
      {"[)]abc", "abc"},
      {"\\d+", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RequiredLiteral(c.pattern), c.literal) << c.pattern;
  }
}

TEST(SplitAlternatives, SplitsOutsideOfBrackets) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(SplitAlternatives("a|b(c|d)|[|]"), (Parts{"a", "b(c|d)", "[|]"}));
  EXPECT_EQ(SplitAlternatives("(?i)a|b"), (Parts{"(?i)a", "(?i)b"}));
  EXPECT_EQ(SplitAlternatives("a\\|b"), (Parts{"a\\|b"}));
  EXPECT_EQ(SplitAlternatives("(?s)a|b"), (Parts{"(?s)a|b"}));
  EXPECT_EQ(SplitAlternatives("\\Qa|b\\E"), (Parts{"\\Qa|b\\E"}));
}

TEST(PatternList, GivesTheLowestIdThatMatches) {
  PatternList list;
  list.Add("^late_", 9);
  list.Add("gemm|norm", 4);
  list.Add("(?i)Moe_?Gemm", 2);
  list.Add("\\d\\d\\d", 7);  // no literal: tried on every text
  EXPECT_EQ(list.First("_MOEGEMM_1"), 2);
  EXPECT_EQ(list.First("late_norm"), 4);
  EXPECT_EQ(list.First("late_x"), 9);
  EXPECT_EQ(list.First("too_late_x"), PatternList::kNone);
  EXPECT_EQ(list.First("x123"), 7);
  EXPECT_EQ(list.First(""), PatternList::kNone);
}

}  // namespace
}  // namespace inferdiff
