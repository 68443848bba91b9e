// SPDX-License-Identifier: Apache-2.0
// Segments -> steps: whose each op is, forward lanes, borders, groups.
//
//   lane "prepare"   [n]               [n+1]
//   lane "forward"          [n n n n n n]    [n+1 n+1 n+1 n+1]  [n+2 ..
//                           |<---- wall of n ---->|<- wall of n+1 ->|
//
// Only the forward lane sets borders: what a side lane does early or late
// moves none.
#pragma once

#include "steps/segmentation.h"

namespace inferdiff {

/// Fills the steps (without groups, and without exclusions beyond the
/// segments' own), the replays and step_of_op.
Steps Assemble(const StepInput& in, Segmentation segmentation);

/// Puts the steps into groups and chooses the main one. `work` is by step, as
/// Segment::work.
void GroupSteps(const std::vector<uint64_t>& work, Steps& steps);

/// Segment::work of each step: the signature of its largest replay. Only where
/// no marker says what the step is.
std::vector<uint64_t> WorkOfSteps(const Steps& steps);

}  // namespace inferdiff
