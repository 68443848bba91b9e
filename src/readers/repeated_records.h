// SPDX-License-Identifier: Apache-2.0
// Records that stand in a file twice: a profiler flushed a buffer twice, or
// files were merged that hold the same rank. The first one counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/counters.h"
#include "model/trace.h"

namespace inferdiff {

/// How many records of the same time are looked at for an equal one.
inline constexpr size_t kLookBack = 8;

/// Of a list in order of `start(record)`: drops each record that is `same` as
/// one of the last kLookBack kept ones with its start. Returns how many.
template <typename Record, typename Start, typename Same>
size_t DropRepeated(std::vector<Record>* records, const Start& start,
                    const Same& same) {
  size_t kept = 0;
  for (size_t i = 0; i < records->size(); ++i) {
    bool repeated = false;
    for (size_t k = kept; k-- > 0 && kept - k <= kLookBack;) {
      if (start((*records)[k]) != start((*records)[i])) break;
      repeated = same((*records)[k], (*records)[i]);
      if (repeated) break;
    }
    if (repeated) continue;
    if (kept != i) (*records)[kept] = std::move((*records)[i]);
    ++kept;
  }
  const size_t dropped = records->size() - kept;
  records->resize(kept);
  return dropped;
}

/// Drops ops of equal lane, start, duration above 0, name and correlation, and
/// annotations of equal place, start, duration above 0 and text. On a lane no
/// two such kernels can have run. Linear; touches nothing where there are none.
void DropRepeatedRecords(Trace* trace, ImportCounters* counters);

}  // namespace inferdiff
