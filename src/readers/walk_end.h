// SPDX-License-Identifier: Apache-2.0
// Where a walk through the records of a stretch of text stopped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inferdiff {

struct WalkEnd {
  enum class Stop : uint8_t {
    kLimit,     // the record at `at` starts at or behind the limit
    kNeedText,  // the record at `at` does not end within the text
    kEnd,       // there is nothing more to walk
  };
  Stop stop = Stop::kLimit;
  size_t at = 0;
  bool lost = false;  // `at` lies within a record that was given up
};

}  // namespace inferdiff
