// SPDX-License-Identifier: Apache-2.0
// Which launches of a process left no record on the GPU.
//
//   host     [l1]  [l2]  [l3]  [l4]  [l5]  [l6]
//   GPU         -    [2]    -     [4]   [5]   -
//                 ^ first answered     ^ last answered: l3 is lost; l1 and l6
//                                        may be cut off by the window
#pragma once

#include "model/trace.h"

namespace inferdiff {

class LaunchTallyBuilder {
 public:
  /// The launching calls of one process in order of their start. `answered`:
  /// some op refers to it.
  void Add(CallKind kind, bool answered) {
    if (answered) {
      pending_.longest_loss = pending_.kernels_lost;
      known_ += pending_;
      pending_ = {};
      begun_ = true;
    } else if (!begun_) {
      return;
    }
    LaunchTally& to = answered ? known_ : pending_;
    if (kind == CallKind::kKernelLaunch) {
      ++to.kernels;
      to.kernels_lost += answered ? 0 : 1;
    } else if (kind == CallKind::kGraphLaunch) {
      ++to.graphs;
      to.graphs_lost += answered ? 0 : 1;
    }
  }
  const LaunchTally& tally() const { return known_; }

 private:
  LaunchTally known_, pending_;
  bool begun_ = false;
};

}  // namespace inferdiff
