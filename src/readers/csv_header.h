// SPDX-License-Identifier: Apache-2.0
// The first line of a CSV file.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

inline constexpr size_t kNoColumn = ~size_t{0};

class CsvHeader {
 public:
  /// The first line of `head` that is not blank, behind a byte order mark. An
  /// empty header where there is none.
  explicit CsvHeader(std::string_view head);

  size_t columns() const { return names_.size(); }
  /// Where the first row begins.
  size_t end() const { return end_; }
  /// Lines up to there.
  uint64_t lines() const { return lines_; }
  /// The column of the first of `names` that there is, kNoColumn if none is.
  /// Letters and digits alone count: "Agent_Id" is "agentid". Of columns named
  /// alike the first holds.
  size_t Find(std::initializer_list<std::string_view> names) const;
  bool Has(std::string_view name) const { return Find({name}) != kNoColumn; }

 private:
  std::vector<std::string> names_;
  size_t end_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace inferdiff
