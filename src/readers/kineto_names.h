// SPDX-License-Identifier: Apache-2.0
// Names of several lexicons -> one pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "model/counters.h"
#include "model/trace.h"
#include "readers/kineto_records.h"

namespace inferdiff {

/// Names of all lexicons in a row; numbers of the model are given at first
/// use: escapes resolved, and what is no UTF-8 replaced.
class NameTable {
 public:
  explicit NameTable(const std::vector<std::unique_ptr<Lexicon>>& lexicons);

  uint32_t FirstOf(size_t lexicon) const { return first_[lexicon]; }

  NameId NumberOf(uint32_t row, ImportCounters* counters) {
    if (numbers_[row] == kNone) numbers_[row] = Intern(raw_[row], counters);
    return numbers_[row];
  }

  /// Rows of different lexicons may hold one text: which ones depends on how
  /// many threads read.
  bool AreSame(uint32_t a, uint32_t b) const {
    return a == b || raw_[a] == raw_[b];
  }

  std::shared_ptr<StringPool> pool() const { return pool_; }

 private:
  NameId Intern(std::string_view raw, ImportCounters* counters);

  std::vector<uint32_t> first_;
  std::vector<uint32_t> numbers_;
  std::vector<std::string_view> raw_;
  std::shared_ptr<StringPool> pool_ = std::make_shared<StringPool>();
};

}  // namespace inferdiff
