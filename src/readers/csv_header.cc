// SPDX-License-Identifier: Apache-2.0
#include "readers/csv_header.h"

#include <algorithm>

namespace inferdiff {
namespace {

std::string Normal(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) normal.push_back(c);
    if (c >= 'A' && c <= 'Z') normal.push_back(static_cast<char>(c | 0x20));
  }
  return normal;
}

}  // namespace

CsvHeader::CsvHeader(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (head.substr(0, 3) == kByteOrderMark) end_ = 3;
  std::string_view line;
  while (line.find_first_not_of(" \t\r,\"") == line.npos) {
    if (end_ >= head.size()) return;
    const size_t length = std::min(head.find('\n', end_), head.size());
    line = head.substr(end_, length - end_);
    end_ = std::min(length + 1, head.size());
    ++lines_;
  }
  // No name of a column holds a comma.
  for (size_t at = 0; at <= line.size();) {
    const size_t comma = std::min(line.find(',', at), line.size());
    names_.push_back(Normal(line.substr(at, comma - at)));
    at = comma + 1;
  }
}

size_t CsvHeader::Find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end()) return static_cast<size_t>(at - names_.begin());
  }
  return kNoColumn;
}

}  // namespace inferdiff
