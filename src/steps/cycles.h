// SPDX-License-Identifier: Apache-2.0
// What a step is made of: drafts, the pass that verifies them, and sampling.
//
//   replays   [draft][draft][draft][verify ................]
//   eager                                                   [accept] [copy]
//   part       draft draft   draft  verify            sample  sample  other
//
// A *pass* is a run of ops that holds attention: a graph replay, or eager ops
// and the pieces of graphs between them, up to a sampled token. A step of one
// pass is plain decode; of several the deepest verifies what the others draft,
// if something says that they do. docs/cycles.md explains it for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "steps/segmentation.h"
#include "steps/steps.h"

namespace inferdiff {

/// Fills Steps::part_of_op and Steps::cycles. `steps` is complete but for
/// those; `drafts` is Segmentation::drafts. O(n log n) in the number of ops.
void FindCycles(const StepInput& in, const std::vector<uint8_t>& drafts,
                Steps* steps);

}  // namespace inferdiff
