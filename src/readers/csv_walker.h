// SPDX-License-Identifier: Apache-2.0
// Through the rows of a stretch of CSV text.
//
//   "KERNEL_DISPATCH","Agent 4","void f<a, b>(int)",40,100,120
//   \_____________________________________________ a row of 6 columns
//
// Rows are found by their delimiters (csv_scan.h). Writers put quotes around
// text, but some do not double those within it: a row whose quotes make no
// sense, or whose fields are too many, is taken apart from both ends, so that
// what is left in the middle is the one column of free text. Damage costs the
// line that it stands in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/counters.h"
#include "readers/csv_scan.h"
#include "readers/walk_end.h"

namespace inferdiff {

/// One row. Fields are views of the text, the quotes around them removed;
/// doubled quotes within are still doubled (UnquoteCsv).
class CsvRow {
 public:
  size_t size() const { return count_; }
  /// Of the row's first line, counted from 0 at the walk's start.
  uint64_t line() const { return line_; }
  std::string_view operator[](size_t column) const {
    const char* begin = text_ + (column == 0 ? begin_ : ends_[column - 1] + 1);
    const char* end = text_ + ends_[column];
    if (column + 1 == count_ && end > begin && end[-1] == '\r') --end;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
      ++begin;
      --end;
    }
    return {begin, static_cast<size_t>(end - begin)};
  }

 private:
  friend class CsvWalker;
  const char* text_ = nullptr;
  size_t begin_ = 0;
  const uint32_t* ends_ = nullptr;  // of the fields, from text_
  size_t count_ = 0;
  uint64_t line_ = 0;
};

/// Takes rows with as many fields as the header.
class CsvRowSink {
 public:
  virtual ~CsvRowSink() = default;
  virtual void TakeRow(const CsvRow& row) = 0;
};

/// What rows look like.
struct CsvShape {
  size_t columns = 0;
  /// The column whose text may hold anything.
  size_t free_text = 0;
};

class CsvWalker {
 public:
  explicit CsvWalker(const CsvShape& shape) : shape_(shape) {}

  /// Walks from `from`, where a row starts (or within one that is `lost`), to
  /// the first row that starts at or behind `limit`. The text is readable for
  /// kTextPadding bytes behind its end, and shorter than 4 GiB. `lines` grows
  /// by the line breaks passed.
  WalkEnd Walk(std::string_view text, size_t from, size_t limit, bool final,
               bool lost, CsvRowSink* rows, uint64_t* lines,
               ImportCounters* counters);

 private:
  void Scan(size_t at);
  void FindRows(const CsvEnds& found);
  size_t TakeRows(size_t at);
  void TakeFields(size_t at, const uint32_t* ends, size_t count);
  bool TakeFromEnds(size_t begin, size_t end);
  bool TakeLine(size_t* at, WalkEnd* result);
  void TakeLastLine(size_t at);
  bool LeaveLost(size_t* at, WalkEnd* result);
  void CountLines(size_t begin, size_t end);

  CsvShape shape_;
  std::string_view text_;
  size_t limit_ = 0;
  bool final_ = false;
  CsvRowSink* rows_ = nullptr;
  uint64_t* lines_ = nullptr;
  ImportCounters* counters_ = nullptr;

  size_t stretch_ = 0;  // bytes to scan at once
  std::vector<CsvBits> bits_;
  CsvRemarks remarks_;
  size_t scanned_ = 0;              // to here
  size_t first_bad_ = 0;            // scanned_ where there is none
  std::vector<uint32_t> ends_;      // of fields
  std::vector<uint32_t> row_ends_;  // how many of ends_ up to a row's end
  std::vector<uint32_t> repaired_;  // ends of the fields of one row
};

/// The text of a field: doubled quotes become one.
std::string UnquoteCsv(std::string_view field);

}  // namespace inferdiff
