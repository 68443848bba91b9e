// SPDX-License-Identifier: Apache-2.0
#include "readers/json_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace inferdiff {
namespace {

/// The same, a byte at a time, as json_scan.h says it.
std::vector<ScanBits> ScanSlowly(const std::string& text) {
  std::vector<ScanBits> bits(text.size() / 64);
  bool in_string = false;
  bool escaped = false;
  bool closed = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const uint64_t bit = uint64_t{1} << (i % 64);
    ScanBits& block = bits[i / 64];
    if (closed && std::string(" \t\n\r,:]}").find(c) == std::string::npos) {
      block.bad |= bit;
    }
    closed = false;
    if (c == '"' && !escaped) {
      block.quote |= bit;
      closed = in_string;
      in_string = !in_string;
    } else if ((c == '{' || c == '}') && !in_string) {
      block.brace |= bit;
    }
    escaped = c == '\\' && !escaped;
  }
  return bits;
}

void CheckVariant(ScanFunction scan) {
  std::mt19937 random(3);
  const std::string letters("\"\"\\\\{}[]:, \n\txy\xff\x7b\x5d\x1d\xdd", 20);
  for (int round = 0; round < 2000; ++round) {
    std::string text(64 * 5, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    std::vector<ScanBits> got(text.size() / 64);
    const bool any_bad = scan(text.data(), got.size(), got.data());
    const std::vector<ScanBits> want = ScanSlowly(text);
    bool want_bad = false;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].quote, want[i].quote) << text;
      ASSERT_EQ(got[i].brace, want[i].brace) << text;
      ASSERT_EQ(got[i].bad, want[i].bad) << text;
      want_bad |= want[i].bad != 0;
    }
    ASSERT_EQ(any_bad, want_bad);
  }
}

TEST(JsonScan, AnyTextAsOneByteAtATime) {
  for (const ScanFunction variant : ScanVariants()) CheckVariant(variant);
}

}  // namespace
}  // namespace inferdiff
