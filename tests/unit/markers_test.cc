// SPDX-License-Identifier: Apache-2.0
// The shipped marker rules against their own examples.
#include "steps/markers.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace inferdiff {
namespace {

const MarkerRules& Rules() { return MarkerRules::Builtin(); }

std::string RuleOf(const std::string& text) {
  const auto match = Rules().Match(text);
  return match ? Rules().rules()[match->rule].id : "";
}

TEST(MarkerRules, AnExampleMeansWhatItsRuleSays) {
  for (const MarkerRule& rule : Rules().rules()) {
    EXPECT_FALSE(rule.examples.empty()) << rule.id << " has no example";
    EXPECT_FALSE(rule.counter_examples.empty()) << rule.id;
    for (const MarkerExample& example : rule.examples) {
      SCOPED_TRACE(example.text);
      ASSERT_EQ(RuleOf(example.text), rule.id);
      const StepShape got = Rules().Match(example.text)->shape;
      EXPECT_EQ(IdOf(got.kind), IdOf(example.shape.kind));
      EXPECT_EQ(got.batch, example.shape.batch);
      EXPECT_EQ(got.tokens, example.shape.tokens);
      EXPECT_EQ(got.context, example.shape.context);
    }
    for (const std::string& text : rule.counter_examples) {
      EXPECT_NE(RuleOf(text), rule.id) << text;
    }
  }
}

TEST(MarkerRules, IdsAreUniqueAndFamiliesAgreeOnThemselves) {
  std::set<std::string> ids;
  for (const MarkerRule& rule : Rules().rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    for (const MarkerRule& other : Rules().rules()) {
      if (other.family != rule.family) continue;
      EXPECT_EQ(other.generic, rule.generic) << rule.family;
      EXPECT_EQ(other.opens, rule.opens) << rule.family;
    }
  }
}

TEST(MarkerRules, ADamagedNumberIsUnknown) {
  const auto match =
      Rules().Match("step[EXTEND bs=99999999999999999999 toks=7]");
  ASSERT_TRUE(match);
  EXPECT_FALSE(match->shape.batch);
  EXPECT_EQ(match->shape.tokens, 7);
  const auto sum = Rules().Match(
      "execute_context_9223372036854775807(1)_generation_9223372036854775807("
      "1)");
  ASSERT_TRUE(sum);
  EXPECT_FALSE(sum->shape.batch);
}

TEST(MarkerRules, ALongTextIsLookedAtInItsFirstPart) {
  std::string text = "step[DECODE ";
  text.append(1 << 20, 'x').append(" bs=3]");
  const auto match = Rules().Match(text);
  ASSERT_TRUE(match);
  EXPECT_FALSE(match->shape.batch);
}

std::string ErrorOf(const std::string& toml) {
  try {
    MarkerRules::Load(toml);
  } catch (const InputError& error) {
    EXPECT_EQ(error.id, "bad-rules");
    return error.what();
  }
  return "";
}

TEST(MarkerRules, BadRulesAreRefusedByName) {
  const std::string head = "[[marker]]\nid=\"x\"\nfamily=\"f\"\nwhy=\"w\"\n";
  EXPECT_NE(ErrorOf(head), "");
  EXPECT_NE(ErrorOf(head + "pattern='a('\n").find("\"x\""), std::string::npos);
  EXPECT_NE(ErrorOf(head + "pattern='(a)'\n"), "");
  EXPECT_NE(ErrorOf(head + "pattern='(?P<bath>a)'\n").find("bath"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "pattern='a'\nkind='decoding'\n"), "");
  EXPECT_NE(ErrorOf(head + "pattern='a'\njoins='both'\n"), "");
  EXPECT_NE(ErrorOf("[[marker"), "");
  EXPECT_EQ(ErrorOf(head + "pattern='a'\n"), "");
}

}  // namespace
}  // namespace inferdiff
