// SPDX-License-Identifier: Apache-2.0
#include "readers/parse_digits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace inferdiff {
namespace {

TEST(Digits, AreReadAsTheyAreWritten) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto wanted = static_cast<int64_t>(random() % 1000000000000000000U >>
                                             (random() % 60));
    int64_t value = -1;
    const std::string text = std::to_string(wanted);
    ASSERT_TRUE(ParseDigits(text, &value));
    ASSERT_EQ(value, wanted);
    const std::string padded = text + "\",12345";
    value = -1;
    ASSERT_TRUE(ParsePaddedDigits({padded.data(), text.size()}, &value));
    ASSERT_EQ(value, wanted);
  }
}

TEST(Digits, AreNothingElse) {
  int64_t value = 7;
  for (const char* const text :
       {"", "-1", "+1", "1.5", "1 ", "1234567:", "12345678/", "a2345678",
        "1234567890123456789"}) {
    EXPECT_FALSE(ParseDigits(text, &value)) << text;
    const std::string padded = std::string(text) + "12345678";
    EXPECT_FALSE(ParsePaddedDigits({padded.data(), std::strlen(text)}, &value));
  }
  const std::string digits(16, '5');
  for (size_t at = 0; at < digits.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = digits;
      text[at] = static_cast<char>(byte);
      const bool digit = byte >= '0' && byte <= '9';
      EXPECT_EQ(ParseDigits(text, &value), digit);
      for (size_t size = at + 1; size <= digits.size(); ++size) {
        EXPECT_EQ(ParsePaddedDigits({text.data(), size}, &value), digit);
      }
    }
  }
}

}  // namespace
}  // namespace inferdiff
