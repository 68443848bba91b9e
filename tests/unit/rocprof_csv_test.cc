// SPDX-License-Identifier: Apache-2.0
// Damaged rocprof tables: one bad line costs one line, whoever reads it.
#include "readers/rocprof_csv.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "temp_text.h"

namespace inferdiff {
namespace {

constexpr const char* kHeader =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Kernel_Name\","
    "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Grid\"\n";

std::string Row(int i, const std::string& name) {
  const std::string start = std::to_string(8819330200067564 + i * 100);
  const std::string end = std::to_string(8819330200067564 + i * 100 + 90);
  return "\"KERNEL_DISPATCH\",\"Agent 4\",\"1\",\"" + std::to_string(i % 3) +
         "\",\"" + name + "\",\"" + std::to_string(i + 7) + "\",\"" + start +
         "\",\"" + end + "\",\"64\"\n";
}

SourceFile Read(const InputFile& file, unsigned threads, size_t window) {
  ReadOptions options;
  options.threads = threads;
  RocprofCsvTuning tuning;
  tuning.window = window;
  return ReadRocprofCsv(file, DetectCompression(file), options, tuning);
}

std::string Outcome(const std::string& text, unsigned threads, size_t window) {
  return OutcomeOf(
      text, [&](const InputFile& file) { return Read(file, threads, window); });
}

/// The same for every way of reading.
std::string OneOutcome(const std::string& text) {
  const std::string whole = Outcome(text, 1, 1 << 16);
  EXPECT_EQ(Outcome(text, 1, 300), whole) << text;
  EXPECT_EQ(Outcome(text, 2, 256), whole) << text;
  EXPECT_EQ(Outcome(text, 3, 1000), whole) << text;
  return whole;
}

std::string Table(int rows) {
  std::string text = kHeader;
  for (int i = 0; i < rows; ++i) {
    text += Row(i, i % 4 == 0 ? "void f<a, b>(int)\n\"\"x\"\"" : "g, h");
  }
  return text;
}

TEST(RocprofCsv, ReadsTheSameInAnyWindows) {
  const std::string outcome = OneOutcome(Table(200));
  EXPECT_NE(outcome.find("op 8819330200087464 90 206 251 "), outcome.npos)
      << outcome;  // row 199, behind 50 names of two lines
}

/// Each thread numbers names and places on its own, and goes on while what it
/// read is put into columns.
TEST(RocprofCsv, NumbersThatComeAgainInOtherWindows) {
  std::string text = kHeader;
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    std::string row = Row(i, "kernel " + std::to_string(random() % 40));
    if (random() % 4 == 0) row.replace(row.find("Agent 4"), 7, "Agent 2");
    if (random() % 50 == 0) row.replace(row.find("\"64\""), 4, "6\"4");
    text += row;
  }
  const std::string outcome = OneOutcome(text);
  EXPECT_GE(CountOps(outcome), 380U);
  EXPECT_NE(outcome.find("device 2 "), outcome.npos);
  // The first name of the file is the first of the model.
  const size_t first = text.find("kernel ");
  const std::string name = text.substr(first, text.find('"', first) - first);
  EXPECT_NE(outcome.find(" 0:" + name + " "), outcome.npos);
}

TEST(RocprofCsv, ErrorsOfAnyThreadArrive) {
  std::string text = kHeader;
  for (int i = 0; i < 1100; ++i) {
    std::string row = Row(i, "f");
    text += row.replace(row.find("Agent 4"), 7, "Agent " + std::to_string(i));
  }
  EXPECT_EQ(OneOutcome(text), "too-many-devices");
}

TEST(RocprofCsv, EveryPrefixIsReadOrRefused) {
  const std::string text = Table(3);
  for (size_t size = 0; size < text.size(); ++size) {
    OneOutcome(text.substr(0, size));
  }
}

TEST(RocprofCsv, FlippedBytesCostAFewRows) {
  const std::string good = Table(40);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    const size_t at =
        std::string(kHeader).size() + random() % (text.size() - 200);
    text[at] = static_cast<char>(random());
    const std::string outcome = OneOutcome(text);
    EXPECT_GE(CountOps(outcome), 38U) << text << outcome;
  }
}

TEST(RocprofCsv, NamesTheColumnThatIsMissing) {
  const std::string text = "Kind,Kernel_Name,End_Timestamp\nK,f,2\n";
  const TempText temp(text);
  try {
    Read(InputFile(temp.path()), 1, 1 << 16);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.id, "missing-column");
    EXPECT_NE(std::string(error.what()).find("Start_Timestamp"),
              std::string::npos);
  }
}

TEST(RocprofCsv, CountsWhatHasNoTime) {
  const std::string head =
      "Kernel_Name,Correlation_Id,Start_Timestamp,"
      "Start_Timestamp,End_Timestamp\n";
  const TempText temp(
      head +
      "a,1,10,99,20\nb,1,x,1,2\nc,18446744073709551615,30,0,40\n"
      "d,1,99999999999999999999,0,5\ne,1,50,0,45\n" +
      std::string("f\0g,1,60,0,70\n", 14));
  const SourceFile file = Read(InputFile(temp.path()), 1, 1 << 16);
  ASSERT_EQ(file.traces.size(), 1U);
  EXPECT_EQ(file.traces[0].ops.size(), 4U);
  EXPECT_EQ(file.counters[Counter::kMissingField], 1U);
  EXPECT_EQ(file.counters[Counter::kTimeOutOfRange], 1U);
  EXPECT_EQ(file.counters[Counter::kHugeInteger], 1U);
  EXPECT_EQ(file.counters[Counter::kNegativeDuration], 1U);
  EXPECT_EQ(file.counters[Counter::kControlCharacter], 1U);
}

}  // namespace
}  // namespace inferdiff
