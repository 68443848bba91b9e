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
//
// docs/how-it-works.md says how a call that shares its time is cut.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trace.h"

namespace inferdiff {

struct LedgerResult;

/// The narrowest row of the tables of which only ops run.
enum class Sole : uint8_t { kNo, kCategory, kFamily, kKernel };

/// A stretch of a call: hidden on its lane, or sharing with as many lanes all
/// through, and with as little else running. The amounts add up to the
/// stretch's length.
struct CallSegment {
  int64_t attributed_ns = 0;
  int64_t hidden_same_lane_ns = 0;
  int64_t hidden_cross_lane_ns = 0;
  Sole sole = Sole::kNo;

  int64_t length_ns() const {
    return attributed_ns + hidden_same_lane_ns + hidden_cross_lane_ns;
  }
};

/// One communication kernel's call, in a used step or not: 80 bytes, and 32 a
/// segment, of which most have one.
struct CollectiveCall {
  int64_t start_ns = 0;  // the trace's clock
  int64_t end_ns = 0;
  uint64_t ordinal = 0;
  uint32_t name = 0;       // index in Collectives::names
  uint32_t group = kNone;  // index in Collectives::groups; kNone = not stated
  uint32_t lane = 0;       // normalised
  uint32_t step = kNone;   // index in Steps::steps
  /// Number among the step's calls of this name on this lane, by start: two
  /// lanes may race. Calls of no step are numbered together.
  uint32_t position = 0;
  /// Index in LedgerResult::kernels; kNone where the step is not used.
  uint32_t kernel = kNone;
  // Of the part within the step's window; none where the step is not used.
  int64_t clipped_start_ns = 0;
  /// Idle time of the device since the last call ended.
  int64_t idle_before_ns = 0;
  uint32_t first_segment = 0;  // in Collectives::segments, in order of time
  uint32_t segments = 0;
};

struct Collectives {
  std::vector<std::string> names;     // families (classify/classify.h), sorted
  std::vector<std::string> groups;    // process groups that the trace names
  std::vector<CollectiveCall> calls;  // by start, end, then as in the trace
  std::vector<CallSegment> segments;
};

/// The head of a call that is waiting.
struct RankWait {
  uint32_t call = 0;    // index in Collectives::calls
  int64_t wait_ns = 0;  // from the call's start; at most its duration
};

/// Moves the heads of these calls, each named once, from their kernels and the
/// category communication to LedgerResult::rank_wait; calls of unused steps are
/// passed over. A segment that ends later than its wait is cut in proportion,
/// what the wait is attributed rounded down. To be called once. Throws
/// ContractError when the sums do not hold afterwards.
void MoveRankWait(std::span<const RankWait> waits, LedgerResult* ledger);

/// What one rank alone shows: whatever a call takes beyond the same call's low
/// quantile (p10, nearest rank) over the used steps, where four of them have
/// it. A rank that waits as long in every step never shows.
std::vector<RankWait> WaitsOfOneRank(const LedgerResult& ledger);

/// MoveRankWait(WaitsOfOneRank) with WaitBasis::kOneRank, where waiting is
/// unknown and some call can be judged.
void BoundRankWait(LedgerResult* ledger);

}  // namespace inferdiff
