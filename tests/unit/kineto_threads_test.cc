// SPDX-License-Identifier: Apache-2.0
// Reading on several threads, for the thread sanitizer to look at.
#include <gtest/gtest.h>

#include "base/crc32.h"
#include "kineto_fixture.h"

namespace inferdiff {
namespace {

std::string LittleEndian(size_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i)
    text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

/// Members of one stored block each: gzip that needs no library to write.
std::string Gzip(const std::string& text) {
  constexpr size_t kMember = 60'000;
  std::string out;
  for (size_t at = 0; at < text.size(); at += kMember) {
    const std::string part = text.substr(at, kMember);
    out += std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11) +
           LittleEndian(part.size(), 2) + LittleEndian(~part.size(), 2) + part +
           LittleEndian(Crc32(0, part.data(), part.size()), 4) +
           LittleEndian(part.size(), 4);
  }
  return out;
}

std::string WithoutChecksum(const std::string& text) {
  return text.substr(text.find('\n'));
}

TEST(KinetoThreads, WindowsGiveWhatOneWalkGives) {
  const std::string text = TraceOf(Plain(2'000));
  const std::string one = Outcome(text, 1, 1 << 16);
  for (const size_t window : {2'000, 20'000, 1 << 18})
    EXPECT_EQ(Outcome(text, 4, window), one);
}

TEST(KinetoThreads, DecodingAheadGivesWhatDecodingInTurnGives) {
  std::vector<std::string> events = Plain(2'000);
  events[4'000] = Giant("1", size_t{1} << 20);  // a carry beyond the room
  const std::string text = TraceOf(events);
  const std::string packed = Gzip(text);
  const std::string one = Outcome(packed, 1, 1 << 16);
  EXPECT_EQ(WithoutChecksum(one), WithoutChecksum(Outcome(text, 1, 1 << 16)));
  for (const size_t window : {2'000, 20'000, 1 << 18})
    EXPECT_EQ(Outcome(packed, 2, window), one);
}

TEST(KinetoThreads, DamageInAStreamIsTheSameForAnyThreads) {
  std::vector<std::string> events = Plain(1'000);
  for (size_t i = 7; i < events.size(); i += 31) {
    events[i].insert(events[i].size() / 2, 1, '"');
    events[i + 3].pop_back();
  }
  const std::string text = TraceOf(events);
  const std::string packed = Gzip(text);
  const std::string one = Outcome(packed, 1, 1 << 16);
  EXPECT_EQ(WithoutChecksum(one), WithoutChecksum(Outcome(text, 1, 1 << 16)));
  for (const unsigned threads : {2, 3, 8})
    for (const size_t window : {300, 2'000, 20'000})
      EXPECT_EQ(Outcome(packed, threads, window), one);
}

TEST(KinetoThreads, ErrorsOfTheDecodingThreadArrive) {
  EXPECT_EQ(Outcome(Gzip("{\"a\": 1}"), 2, 2'000), "no-trace-events");
  std::string cut = Gzip(TraceOf(Plain(2'000)));
  cut.resize(cut.size() / 2);
  const std::string one = Outcome(cut, 1, 2'000);
  EXPECT_NE(one.find("truncated_input 1"), std::string::npos);
  EXPECT_EQ(Outcome(cut, 2, 2'000), one);
}

}  // namespace
}  // namespace inferdiff
