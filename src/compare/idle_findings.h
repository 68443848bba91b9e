// SPDX-License-Identifier: Apache-2.0
// What a GPU that waits for its host would gain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/findings.h"

namespace inferdiff {

/// Idle time of the slower side that it has more of than the other one, by
/// where it lies. What a profiler adds to launches is in it: a bound, and with
/// times without the profiler an estimate.
struct IdleGain {
  enum class Kind : uint8_t {
    kTail,     // in front of what is launched one by one around the replays
    kBetween,  // between replays
    kEager,    // all of a side that replays no graphs
  };
  Kind kind = Kind::kTail;
  Rational bound;                 // what it idles more
  std::optional<Rational> prize;  // of that, what those times leave
};

/// Largest first; those of a hundredth of the gap or more.
std::vector<IdleGain> IdleGains(const CompareResult& result);

/// What such times leave for a difference of idle time: the gap less what
/// differs in busy time, by the ledgers. Unknown without them.
std::optional<Rational> IdleLeft(const CompareResult& result);

/// The tail, gaps between replays, graphs that are missing; then what else the
/// GPU waits for.
void FindIdle(const CompareResult& result, FindingList* out);

}  // namespace inferdiff
