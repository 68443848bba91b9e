// SPDX-License-Identifier: Apache-2.0
// How the watched ops of a step share their time, stretch by stretch.
//
//   lane 0   [compute]      [compute.......]
//   lane 1       [watched.............]
//   stretches    |1/2 |alone|1/2      |
//
// An op's stretch ends where the number of lanes that share changes, or how
// much else runs; which ones they are does not matter. Every such change costs
// a look at all watched ops that share just then, so that two bounds hold
// against hostile traces: of more than 16 at a time the rest, and everything
// once a step has 4 stretches an op, keep the stretch they are in to their end,
// with true amounts but cut as if they were even.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ledger/collectives.h"
#include "ledger/sharer_set.h"

namespace inferdiff {

class CallStretches {
 public:
  struct Stretch {
    uint32_t position = 0;
    CallSegment segment;
  };

  /// For a step of so many ops.
  void Reset(size_t ops);

  /// All of an op's time, or its head, is of one kind.
  void Add(uint32_t position, const CallSegment& segment);
  /// The op begins to share.
  void Share(uint32_t position, int64_t now);
  /// Time will pass in which these share, and no more than `sole` runs.
  void Pass(int64_t now, const SharerSet& sharers, Sole sole) {
    if (open_count_ == 0) return;
    if (sharers.size() == lanes_ && sole == sole_ && !fresh_) return;
    Split(now, sharers, sole);
  }
  /// The op has ended after sharing for `shared_ns` in all, of which it was
  /// given `attributed_ns`.
  void End(uint32_t position, int64_t now, int64_t shared_ns,
           int64_t attributed_ns);

  /// Of the ops that have ended, each op's in order of time.
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  static constexpr size_t kMostAtOnce = 16;
  static constexpr size_t kMostAnOp = 4;

  struct Open {
    uint32_t position = 0;
    int64_t since = 0;
    int64_t dealt_before = 0;
    Sole sole = Sole::kNo;
  };

  void Split(int64_t now, const SharerSet& sharers, Sole sole);
  void Close(const Open& open, int64_t now, int64_t dealt);

  std::vector<Stretch> stretches_;
  std::array<Open, kMostAtOnce> open_{};
  size_t open_count_ = 0;
  size_t limit_ = 0;
  // What the open stretches have in common, unless one is fresh.
  uint32_t lanes_ = 0;
  Sole sole_ = Sole::kNo;
  bool fresh_ = false;
};

}  // namespace inferdiff
