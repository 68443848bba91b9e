// SPDX-License-Identifier: Apache-2.0
#include "readers/csv_walker.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace inferdiff {
namespace {

using Stop = WalkEnd::Stop;

constexpr size_t kNowhere = std::string_view::npos;

/// Scanned at once: what comes of it stays in the first-level cache. Behind
/// damage the stretch is short, so that each damaged line costs little.
constexpr size_t kLeast = 1024;
constexpr size_t kMost = 16 * 1024;

/// A row longer than this is given up.
constexpr size_t kLongestRow = size_t{4} << 20;

/// Of the first `count` bytes of the block, fewer than all.
CsvBits FirstBits(const CsvBits& bits, size_t count) {
  const uint64_t valid = (uint64_t{1} << count) - 1;
  return {bits.delimiter & valid, bits.newline & valid, bits.bad & valid};
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == line.npos;
}

}  // namespace

/// Finds fields and rows from `at` on, stretch_ bytes or to the text's end, or
/// to where quotes make no sense.
void CsvWalker::Scan(size_t at) {
  const size_t bytes = std::min(stretch_, text_.size() - at);
  const size_t blocks = (bytes + 63) / 64;
  if (bits_.size() < blocks) bits_.resize(blocks);
  scanned_ = first_bad_ = at + bytes;
  remarks_ = ScanCsv(text_.data() + at, blocks, bits_.data());
  size_t good = blocks;
  if (bytes % 64 != 0) {
    bits_[blocks - 1] = FirstBits(bits_[blocks - 1], bytes % 64);
  }
  for (size_t i = 0; remarks_.bad && i < good; ++i) {
    if (bits_[i].bad == 0) continue;
    const auto bad = static_cast<size_t>(__builtin_ctzll(bits_[i].bad));
    first_bad_ = at + i * 64 + bad;
    bits_[i] = FirstBits(bits_[i], bad);
    good = i + 1;
  }
  if (ends_.size() < blocks * 64 + 8) ends_.resize(blocks * 64 + 8);
  FindRows(
      FindCsvEnds(bits_.data(), good, static_cast<uint32_t>(at), ends_.data()));
}

/// Mostly each has the fields of a row: as many line breaks as there are
/// fields for, and each at its place.
void CsvWalker::FindRows(const CsvEnds& found) {
  row_ends_.resize(found.rows);
  const size_t columns = shape_.columns;
  bool alike = found.rows * columns <= found.fields;
  for (size_t i = 0; alike && i < found.rows; ++i) {
    const size_t end = (i + 1) * columns;
    row_ends_[i] = static_cast<uint32_t>(end);
    alike = text_[ends_[end - 1]] == '\n';
  }
  if (alike) return;
  row_ends_.clear();
  for (size_t i = 0; i < found.fields; ++i) {
    if (text_[ends_[i]] == '\n') {
      row_ends_.push_back(static_cast<uint32_t>(i + 1));
    }
  }
}

/// One whole row; the last of `ends` is the row's.
void CsvWalker::TakeFields(size_t at, const uint32_t* ends, size_t count) {
  if (count == shape_.columns) {
    CsvRow row;
    row.text_ = text_.data();
    row.begin_ = at;
    row.ends_ = ends;
    row.count_ = count;
    row.line_ = *lines_;
    rows_->TakeRow(row);
    return;
  }
  const size_t end = ends[count - 1];
  if (count == 1 && IsBlank(text_.substr(at, end - at))) return;
  if (count > shape_.columns && TakeFromEnds(at, end)) return;
  counters_->Add(Counter::kMalformedRecord);
}

void CsvWalker::CountLines(size_t begin, size_t end) {
  const auto first = text_.begin();
  *lines_ += static_cast<uint64_t>(
      std::count(first + static_cast<ptrdiff_t>(begin),
                 first + static_cast<ptrdiff_t>(end), '\n'));
}

/// The rows found by Scan; returns where the first that is not done begins.
size_t CsvWalker::TakeRows(size_t at) {
  size_t begin = 0;
  for (const uint32_t end : row_ends_) {
    if (at >= limit_) return at;
    const size_t next = ends_[end - 1] + size_t{1};
    TakeFields(at, ends_.data() + begin, end - begin);
    if (remarks_.newline_in_quotes) {
      CountLines(at, next);
    } else {
      ++*lines_;
    }
    begin = end;
    at = next;
  }
  return at;
}

/// A line whose quotes make no sense, or that has too many fields: those in
/// front of the free text, then those behind it, from the end backwards.
/// False: it has not the fields of a row.
bool CsvWalker::TakeFromEnds(size_t begin, size_t end) {
  if (end > begin && text_[end - 1] == '\r') --end;
  const std::string_view line = text_.substr(0, end);
  const size_t behind = shape_.columns - 1 - shape_.free_text;
  repaired_.assign(shape_.columns, 0);
  size_t left = begin;
  for (size_t i = 0; i < shape_.free_text; ++i) {
    const bool quoted = left < end && line[left] == '"';
    const size_t close = quoted ? line.find("\",", left + 1) : 0;
    const size_t comma =
        quoted ? close + (close == kNowhere ? 0 : 1) : line.find(',', left);
    if (comma == kNowhere) return false;
    repaired_[i] = static_cast<uint32_t>(comma);
    left = comma + 1;
  }
  size_t right = end;
  for (size_t i = 0; i < behind; ++i) {
    repaired_[shape_.columns - 1 - i] = static_cast<uint32_t>(right);
    const size_t comma = right == 0 ? kNowhere : line.rfind(',', right - 1);
    if (comma == kNowhere || comma < left) return false;
    right = comma;
  }
  repaired_[shape_.free_text] = static_cast<uint32_t>(right);
  counters_->Add(Counter::kUnescapedQuote);
  TakeFields(begin, repaired_.data(), shape_.columns);
  return true;
}

/// The line at `at`, whatever its quotes say. False: `result` says why not.
bool CsvWalker::TakeLine(size_t* at, WalkEnd* result) {
  const std::string_view rest = text_.substr(*at, kLongestRow);
  const size_t length = rest.find('\n');
  if (length == kNowhere && rest.size() == kLongestRow) {
    counters_->Add(Counter::kMalformedRecord);
    *at += kLongestRow;
    return LeaveLost(at, result);
  }
  if (length == kNowhere) {
    *result = {Stop::kNeedText, *at, false};
    if (!final_) return false;
    TakeLastLine(*at);
    *result = {Stop::kEnd, text_.size(), false};
    return false;
  }
  if (!TakeFromEnds(*at, *at + length)) {
    counters_->Add(Counter::kMalformedRecord);
  }
  ++*lines_;
  *at += length + 1;
  return true;
}

/// The text that no line break ends: a row, or what is left of one. Its
/// quotes are looked at in the slow way.
void CsvWalker::TakeLastLine(size_t at) {
  repaired_.clear();
  bool quoted = false;
  for (size_t i = at; i < text_.size(); ++i) {
    if (text_[i] == '"') quoted = !quoted;
    if (text_[i] == ',' && !quoted) {
      repaired_.push_back(static_cast<uint32_t>(i));
    }
  }
  repaired_.push_back(static_cast<uint32_t>(text_.size()));
  if (!quoted && repaired_.size() == shape_.columns) {
    TakeFields(at, repaired_.data(), repaired_.size());
  } else if (!IsBlank(text_.substr(at)) && !TakeFromEnds(at, text_.size())) {
    counters_->Add(Counter::kTruncatedInput);
  }
}

/// Moves `at`, within a line that was given up, behind its end. False: that is
/// not in this text.
bool CsvWalker::LeaveLost(size_t* at, WalkEnd* result) {
  const size_t begin = *at;
  const size_t end = text_.find('\n', begin);
  *at = end == kNowhere ? text_.size() : end + 1;
  counters_->Add(Counter::kSkippedBytes, *at - begin);
  if (end != kNowhere) {
    ++*lines_;
    return true;
  }
  const bool over = final_ && limit_ > text_.size();
  *result = {over            ? Stop::kEnd
             : *at >= limit_ ? Stop::kLimit
                             : Stop::kNeedText,
             *at, !over};
  return false;
}

WalkEnd CsvWalker::Walk(std::string_view text, size_t from, size_t limit,
                        bool final, bool lost, CsvRowSink* rows,
                        uint64_t* lines, ImportCounters* counters) {
  text_ = text;
  limit_ = limit;
  final_ = final;
  rows_ = rows;
  lines_ = lines;
  counters_ = counters;
  stretch_ = kMost;
  size_t at = from;
  WalkEnd result;
  if (lost && !LeaveLost(&at, &result)) return result;
  while (at < limit_) {
    if (at >= text_.size()) {
      return {final_ ? Stop::kEnd : Stop::kNeedText, at, false};
    }
    Scan(at);
    const size_t begin = at;
    at = TakeRows(begin);
    if (at >= limit_) break;
    const bool too_long = scanned_ - at >= kLongestRow;
    if (first_bad_ != scanned_ || too_long) {
      if (!TakeLine(&at, &result)) return result;
      stretch_ = kLeast;
    } else if (scanned_ < text_.size()) {
      if (at == begin || stretch_ < kMost) stretch_ *= 2;
    } else if (final_) {
      if (at < text_.size()) TakeLastLine(at);
      return {Stop::kEnd, text_.size(), false};
    } else {
      return {Stop::kNeedText, at, false};
    }
  }
  return {Stop::kLimit, at, false};
}

std::string UnquoteCsv(std::string_view field) {
  std::string text;
  text.reserve(field.size());
  for (size_t i = 0; i < field.size(); ++i) {
    text.push_back(field[i]);
    if (field[i] == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
  }
  return text;
}

}  // namespace inferdiff
