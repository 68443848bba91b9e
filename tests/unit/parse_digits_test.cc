// SPDX-License-Identifier: Apache-2.0
#include "readers/parse_digits.h"

#include <gtest/gtest.h>

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
    ASSERT_TRUE(ParseDigits(std::to_string(wanted), &value));
    ASSERT_EQ(value, wanted);
  }
}

TEST(Digits, AreNothingElse) {
  int64_t value = 7;
  for (const char* const text :
       {"", "-1", "+1", "1.5", "1 ", "1234567:", "12345678/", "a2345678",
        "1234567890123456789"}) {
    EXPECT_FALSE(ParseDigits(text, &value)) << text;
  }
  const std::string digits(16, '5');
  for (size_t at = 0; at < digits.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = digits;
      text[at] = static_cast<char>(byte);
      EXPECT_EQ(ParseDigits(text, &value), byte >= '0' && byte <= '9');
    }
  }
}

}  // namespace
}  // namespace inferdiff
