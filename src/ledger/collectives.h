// SPDX-License-Identifier: Apache-2.0
// Calls of communication kernels, kept so that waiting for other ranks can be
// told from moving data when the trace is gone.
//
//   rank 0   [all-reduce .................]      arrives first and waits
//   rank 1                  [all-reduce ..]      arrives last
//            |<-- wait ---->|<-transfer ->|
//
// Whoever knows when the last rank arrived (several ranks, their clocks
// aligned) or a bound on it (one rank, the same call over many steps) turns a
// call's head into rank wait with MoveRankWait. The wait leaves the category
// communication and stays inside sum and busy:
//
//   sum of attributed, rank wait included, + foreign + idle = wall
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trace.h"

namespace inferdiff {

struct LedgerResult;

/// A stretch of a call in which its sharers are the same. The amounts add up
/// to the stretch's length.
struct CallSegment {
  int64_t attributed_ns = 0;
  int64_t hidden_same_lane_ns = 0;
  int64_t hidden_cross_lane_ns = 0;
  bool exclusive = false;  // only communication runs

  int64_t length_ns() const {
    return attributed_ns + hidden_same_lane_ns + hidden_cross_lane_ns;
  }
};

/// One communication op of the device, of a used step or not.
struct CollectiveCall {
  int64_t start_ns = 0;  // the trace's clock
  int64_t end_ns = 0;
  uint64_t ordinal = 0;
  uint32_t name = 0;       // index in Collectives::names
  uint32_t group = kNone;  // index in Collectives::groups; kNone = not stated
  uint32_t lane = 0;       // normalised
  uint32_t step = kNone;   // index in Steps::steps
  /// Number among the step's calls of this name, by start.
  uint32_t position = 0;
  /// Index in LedgerResult::kernels; kNone where the step is not used.
  uint32_t kernel = kNone;
  // Of the part within the step's window; none where the step is not used.
  int64_t clipped_start_ns = 0;
  uint32_t first_segment = 0;  // in Collectives::segments
  uint32_t segments = 0;
};

struct Collectives {
  std::vector<std::string> names;     // families (classify/classify.h), sorted
  std::vector<std::string> groups;    // process groups that the trace names
  std::vector<CollectiveCall> calls;  // by (start, end, lane, ordinal)
  std::vector<CallSegment> segments;
};

/// The head of a call that is waiting.
struct RankWait {
  uint32_t call = 0;    // index in Collectives::calls
  int64_t wait_ns = 0;  // from the call's start; at most its duration
};

/// Moves the heads of these calls from their kernels and the category
/// communication to LedgerResult::rank_wait; calls of unused steps are passed
/// over. Segments are cut in proportion, rounded down for the wait. To be
/// called once. Throws ContractError when the sums do not hold afterwards.
void MoveRankWait(std::span<const RankWait> waits, LedgerResult* ledger);

}  // namespace inferdiff
