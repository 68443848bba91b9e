// SPDX-License-Identifier: Apache-2.0
// Which calls of several ranks are one collective, whose clock is off by how
// much, and when the last rank arrived.
//
//   rank 0        [all-reduce ..............]    [....]
//   rank 1, its clock 3 late        [........]      [.....]
//                                  same end  ^ - 3       same end
//
// A collective ends on all of its ranks at nearly the same instant, however
// late some arrived. So the distances between ends are the fingerprint by
// which calls are matched, the difference of the ends is the clocks', and what
// remains of it is the error, which is printed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ledger/by_group.h"
#include "ledger/collectives.h"

namespace inferdiff {

/// A call on the absolute clock of its rank.
struct TimedCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t call = 0;  // index in Collectives::calls
};

/// The calls of one rank on one channel, by end.
using CallSequence = std::vector<TimedCall>;

/// What matching needs of one rank: its calls by channel, that is by family
/// and process group.
struct RankCalls {
  uint64_t calls = 0;  // of any channel or none
  std::map<std::string, CallSequence> channels;
};

/// `base_time_ns` is TraceInfo's. Point-to-point calls are on no channel, nor
/// are calls at times that a damaged clock made up.
RankCalls CallsByChannel(const Collectives& collectives, int64_t base_time_ns);

/// How far a clock is ahead of another: a line through two readings, since
/// clocks of two hosts run apart by up to 50 us a second.
struct ClockOffset {
  int64_t at_ns = 0;  // absolute, on the clock that is off
  int64_t offset_ns = 0;
  int64_t later_ns = 0;  // equal to at_ns: a constant
  int64_t later_offset_ns = 0;

  int64_t At(int64_t time_ns) const;
  int64_t Aligned(int64_t time_ns) const { return time_ns - At(time_ns); }
};

/// A rank against the reference of most of its collectives.
struct RankAlignment {
  uint32_t reference = 0;  // index of the rank; itself where nothing matched
  ClockOffset clock;
  int64_t residual_ns = 0;  // p90 of the ends' distance after alignment
  uint64_t matched = 0;     // calls that are part of a collective
  uint64_t unmatched = 0;   // calls that are not: their waiting is unknown
};

/// One rank's part of a collective.
struct CollectivePart {
  uint32_t rank = 0;    // index
  uint32_t call = 0;    // index in its Collectives::calls
  int64_t wait_ns = 0;  // from its start to the last rank's arrival
};

struct MatchedCollective {
  uint32_t first_part = 0;  // in RankMatch::parts
  uint32_t parts = 0;       // at least 2
  uint32_t last_rank = 0;   // index of the rank that arrived last
  int64_t transfer_ns = 0;  // last arrival to the last end; at least 0
};

struct RankMatch {
  std::vector<RankAlignment> ranks;
  std::vector<MatchedCollective> collectives;
  std::vector<CollectivePart> parts;
  ByGroup parts_of_rank;  // indices in `parts`

  /// Of one rank, for MoveRankWait; waits of 0 included.
  std::vector<RankWait> WaitsOf(uint32_t rank) const;
};

/// Calls are matched within one channel. Ranks whose calls do not end together
/// are not one group, whatever their names say.
RankMatch MatchRanks(std::vector<RankCalls> ranks);

}  // namespace inferdiff
