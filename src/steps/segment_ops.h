// SPDX-License-Identifier: Apache-2.0
// The ops of each segment or step, one list after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace inferdiff {

struct SegmentOps {
  std::vector<uint32_t> first;  // by segment, and the end of the last one's
  std::vector<uint32_t> ops;    // of each in order of their index

  /// Ops of another number than a segment's are in no list.
  SegmentOps(const std::vector<uint32_t>& of_op, size_t segments)
      : first(segments + 1, 0) {
    for (const uint32_t s : of_op) {
      if (s < segments) ++first[s + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    ops.resize(first.back());
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (uint32_t i = 0; i < of_op.size(); ++i) {
      if (of_op[i] < segments) ops[next[of_op[i]]++] = i;
    }
  }
  const uint32_t* begin(size_t s) const { return ops.data() + first[s]; }
  const uint32_t* end(size_t s) const { return ops.data() + first[s + 1]; }
};

}  // namespace inferdiff
