// SPDX-License-Identifier: Apache-2.0
// CSV rows against a parser that looks at one byte after the other.
#include "readers/csv_walker.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "readers/kineto_walker.h"

namespace inferdiff {
namespace {

struct Rows : CsvRowSink {
  std::vector<std::string> rows;
  void TakeRow(const CsvRow& row) override {
    std::string text = std::to_string(row.line());
    for (size_t i = 0; i < row.size(); ++i) {
      text.append("|").append(UnquoteCsv(row[i]));
    }
    rows.push_back(text);
  }
};

/// Walks in pieces of `piece` bytes, each with what the last one left.
std::vector<std::string> Walk(const std::string& text, const CsvShape& shape,
                              size_t piece, ImportCounters* counters) {
  Rows rows;
  CsvWalker walker(shape);
  uint64_t lines = 0;
  size_t at = 0;
  bool lost = false;
  for (size_t end = std::min(piece, text.size());;
       end = std::min(end + piece, text.size())) {
    // Garbage behind the text must not matter.
    const std::string part = text.substr(at, end - at);
    const std::string padded = part + std::string(kTextPadding, '"');
    const WalkEnd walked = walker.Walk(
        std::string_view(padded).substr(0, part.size()), 0, part.size() + 1,
        end == text.size(), lost, &rows, &lines, counters);
    at += walked.at;
    lost = walked.lost;
    if (walked.stop == WalkEnd::Stop::kEnd) return rows.rows;
  }
}

/// RFC 4180, a byte at a time; rows of another size are left out.
std::vector<std::string> Slowly(const std::string& text, size_t columns) {
  std::vector<std::string> rows;
  std::vector<std::string> fields(1);
  bool quoted = false;
  uint64_t line = 0;
  uint64_t first = 0;
  const auto end_row = [&] {
    if (fields.size() == columns) {
      std::string row = std::to_string(first);
      for (const std::string& field : fields) row.append("|").append(field);
      rows.push_back(row);
    }
    fields.assign(1, "");
    first = line;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        fields.back().push_back('"');
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        fields.back().push_back(c);
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      fields.back().push_back(c);
    }
  }
  if (fields.size() > 1) end_row();
  return rows;
}

std::string RandomField(std::mt19937* random) {
  static const std::vector<std::string> kParts = {
      "a", "kernel<int, 4>", ",", "\"\"", "\n", " ", "12", "\r\n", "\xc3\xa9"};
  std::string text;
  const bool plain = (*random)() % 3 == 0;
  for (size_t n = (*random)() % 6; n > 0; --n) {
    text += plain ? std::to_string((*random)() % 1000)
                  : kParts[(*random)() % kParts.size()];
  }
  if (!plain) text.insert(0, 1, '"').push_back('"');
  return text;
}

TEST(CsvWalker, FindsTheRowsThatASlowParserFinds) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const size_t columns = 2 + random() % 4;
    std::string text;
    for (size_t row = random() % 60; row > 0; --row) {
      for (size_t i = 0; i < columns; ++i) {
        text.append(i == 0 ? "" : ",").append(RandomField(&random));
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
    }
    if (random() % 2 == 0 && !text.empty()) text.pop_back();
    if (!text.empty() && text.back() == '\r') text.pop_back();
    for (const size_t piece : {1U, 7U, 64U, 100U, 100000U}) {
      ImportCounters counters;
      EXPECT_EQ(Walk(text, {columns, 0}, piece, &counters),
                Slowly(text, columns))
          << "seed " << seed << " in pieces of " << piece << "\n"
          << text;
      EXPECT_EQ(counters.Total(Severity::kDataLoss), 0U) << seed << text;
      EXPECT_EQ(counters[Counter::kUnescapedQuote], 0U) << seed << text;
    }
  }
}

std::vector<std::string> WalkAll(const std::string& text,
                                 ImportCounters* counters) {
  return Walk(text, {3, 1}, 100000, counters);
}

TEST(CsvWalker, KeepsTextWithBareQuotesAndCommas) {
  ImportCounters counters;
  EXPECT_EQ(
      WalkAll("1,\"say \"hi\", you\",2\n3,plain, too,4\r\n"
              "\"5\",\"\\\"back\\\"\",\"6\"\n",
              &counters),
      (std::vector<std::string>{"0|1|say \"hi\", you|2", "1|3|plain, too|4",
                                "2|5|\\\"back\\\"|6"}));
  EXPECT_EQ(counters[Counter::kUnescapedQuote], 3U);
  EXPECT_EQ(counters.Total(Severity::kDataLoss), 0U);
}

TEST(CsvScan, FindsTheEndsOfFieldsHoweverMany) {
  std::mt19937_64 random(1);
  std::vector<CsvBits> bits(1000);
  std::vector<uint32_t> wanted;
  size_t rows = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    uint64_t& found = bits[i].delimiter;
    found = i % 50 == 0 ? ~uint64_t{0} : random();
    for (size_t k = i % 6; k > 0; --k) found &= random();
    bits[i].newline = found & random();
    for (uint32_t bit = 0; bit < 64; ++bit) {
      if ((found >> bit & 1) == 0) continue;
      wanted.push_back(7 + static_cast<uint32_t>(i) * 64 + bit);
      rows += bits[i].newline >> bit & 1;
    }
  }
  std::vector<uint32_t> ends(bits.size() * 64 + 8);
  const CsvEnds found = FindCsvEnds(bits.data(), bits.size(), 7, ends.data());
  ends.resize(found.fields);
  EXPECT_EQ(ends, wanted);
  EXPECT_EQ(found.rows, rows);
}

TEST(CsvWalker, DamageCostsItsLine) {
  ImportCounters counters;
  EXPECT_EQ(WalkAll("1,\"a\",2\n3,\"open,4\n5,\"b\",6\n7,8\n\n9,\"c\",10\n",
                    &counters),
            (std::vector<std::string>{"0|1|a|2", "1|3|\"open|4", "2|5|b|6",
                                      "5|9|c|10"}));
  EXPECT_EQ(counters[Counter::kMalformedRecord], 1U);  // 7,8
}

TEST(CsvWalker, CountsARowThatIsCut) {
  ImportCounters counters;
  EXPECT_EQ(WalkAll("1,\"a\",2\n3,\"b", &counters),
            (std::vector<std::string>{"0|1|a|2"}));
  EXPECT_EQ(counters[Counter::kTruncatedInput], 1U);
}

TEST(CsvWalker, GivesUpARowWithoutEnd) {
  const std::string text =
      "1,a,2\n3,\"" + std::string(size_t{5} << 20, 'x') + "\n4,b,5\n";
  for (const size_t piece : {size_t{1} << 16, size_t{1} << 23}) {
    ImportCounters counters;
    EXPECT_EQ(Walk(text, {3, 1}, piece, &counters),
              (std::vector<std::string>{"0|1|a|2", "2|4|b|5"}));
    EXPECT_EQ(counters[Counter::kMalformedRecord], 1U);
    EXPECT_GT(counters[Counter::kSkippedBytes], 0U);
  }
}

}  // namespace
}  // namespace inferdiff
