// SPDX-License-Identifier: Apache-2.0
#include "model/counters.h"

namespace inferdiff {

const CounterInfo& InfoOf(Counter counter) {
  static constexpr std::array<CounterInfo, static_cast<size_t>(Counter::kCount)>
      kTable = {{
#define X(constant, id, severity, sentence) {id, Severity::severity, sentence},
          INFERDIFF_COUNTERS(X)
#undef X
      }};
  return kTable[static_cast<size_t>(counter)];
}

}  // namespace inferdiff
