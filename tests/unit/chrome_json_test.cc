// SPDX-License-Identifier: Apache-2.0
#include "readers/chrome_json.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "temp_text.h"

namespace inferdiff {
namespace {

TEST(ChromeJson, ParsesMicrosecondsExactly) {
  const auto parse = ParsePicoseconds;
  EXPECT_EQ(parse("0"), 0);
  EXPECT_EQ(parse("5115527810780.217123"), 5115527810780217123);
  EXPECT_EQ(parse("5115527810780.2171239999999999999"), 5115527810780217123);
  EXPECT_EQ(parse("1e-06"), 1);
  EXPECT_EQ(parse("1.5E+3"), 1500000000);
  EXPECT_EQ(parse("-2.5"), -2500000);
  EXPECT_EQ(parse("0e30"), 0);
  for (const char* const bad :
       {"", ".", "-", "e5", "1e", "1e99", "0x1", "1.2.3", " 1", "nan",
        "99999999999999999999", "5e13"}) {
    EXPECT_EQ(parse(bad), std::nullopt) << bad;
  }
}

std::string Trace(int events) {
  std::string text =
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},)"
      R"("traceEvents":[{"ph":"M","pid":1,"name":"process_name",)"
      R"("args":{"name":"/device:GPU:0"}},{"ph":"M","pid":1,"tid":3,)"
      R"("name":"thread_name","args":{"name":"Stream #7"}})";
  for (int i = 0; i < events; ++i) {
    text += R"(,{"ph":"X","pid":1,"tid":3,"ts":)" + std::to_string(i * 10) +
            R"(.25,"dur":5.5,"name":"f<{)" + std::to_string(i) +
            R"(}>","args":{"correlation_id":"4"}})";
  }
  return text + ",{}]}";
}

std::string Outcome(const std::string& text, size_t block) {
  return OutcomeOf(text, [&](const InputFile& file) {
    return ReadChrome(file, DetectCompression(file), {}, block);
  });
}

TEST(ChromeJson, ReadsTheSameInAnyBlocks) {
  const std::string whole = Outcome(Trace(50), 1 << 20);
  EXPECT_EQ(CountOps(whole), 50U);
  EXPECT_EQ(whole.find("truncated"), whole.npos);
  for (const size_t block : {64U, 100U, 300U}) {
    EXPECT_EQ(Outcome(Trace(50), block), whole);
  }
}

TEST(ChromeJson, DamageCostsAFewEvents) {
  const std::string good = Trace(40);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    text[300 + random() % (text.size() - 310)] = static_cast<char>(random());
    const std::string outcome = Outcome(text, 1 << 20);
    EXPECT_EQ(Outcome(text, 300), outcome) << text;
    EXPECT_GE(CountOps(outcome), 36U) << text << outcome;
  }
  for (size_t size = 1; size < good.size(); size += 7) {
    Outcome(good.substr(0, size), 300);
  }
}

}  // namespace
}  // namespace inferdiff
