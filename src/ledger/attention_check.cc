// SPDX-License-Identifier: Apache-2.0
#include "ledger/attention_check.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/wide.h"

namespace inferdiff {
namespace {

int64_t AttentionIn(const StepOps& index, const Classification& classes,
                    uint32_t step) {
  int64_t sum = 0;
  for (const uint32_t op : index.of(step)) {
    const Category category = classes.of_op[op];
    if (category == Category::kAttention ||
        category == Category::kAttentionIndexer)
      sum = SaturatingAdd(sum, index.trace().ops.dur_ns[op]);
  }
  return sum;
}

bool KnowsContext(const Steps& steps, const std::vector<uint32_t>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](uint32_t step) {
    return steps.steps[step].shape.context.has_value();
  });
}

/// Does the later one of 95 % of all pairs take longer?
bool Rises(const std::vector<int64_t>& times) {
  int64_t pairs = 0, ordered = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    for (size_t k = i + 1; k < times.size(); ++k) {
      ++pairs;
      ordered += times[i] < times[k];
    }
  }
  return ordered * 100 >= pairs * 95;
}

}  // namespace

std::optional<CaptureCheck> CheckAttentionTrend(const StepOps& index,
                                                const Classification& classes) {
  constexpr size_t kLeast = 5, kMost = 1024;
  const std::vector<uint32_t>& steps = index.wanted();
  if (steps.size() < kLeast || KnowsContext(index.steps(), steps))
    return std::nullopt;
  const size_t count = std::min(steps.size(), kMost);
  std::vector<int64_t> attention;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t step = steps[i * steps.size() / count];
    attention.push_back(AttentionIn(index, classes, step));
  }
  if (!Rises(attention)) return std::nullopt;
  const size_t third = std::max<size_t>(count / 3, 1);
  CaptureCheck check;
  check.kind = CheckKind::kContextTrend;
  check.count = static_cast<int64_t>(third);
  check.of = static_cast<int64_t>(count);
  check.detail = kTrendOfAttention;
  for (size_t i = 0; i < third; ++i) {
    check.time_ns = SaturatingAdd(
        check.time_ns,
        SaturatingSub(attention[count - third + i], attention[i]));
    const uint32_t step = steps[i * steps.size() / count];
    check.of_ns = SaturatingAdd(check.of_ns, index.window(step).length());
  }
  if (Wide{check.time_ns} * 50 < check.of_ns) return std::nullopt;
  return check;
}

}  // namespace inferdiff
