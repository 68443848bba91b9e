// SPDX-License-Identifier: Apache-2.0
// The statistics over steps by the names that JSON has for them.
#pragma once

#include "ledger/ledger.h"

namespace inferdiff {

struct PerStepField {
  const char* id;  // in ns where it ends in _ns
  Stat PerStep::*stat;
};

inline constexpr PerStepField kPerStepFields[] = {
    {"wall_ns", &PerStep::wall},
    {"span_ns", &PerStep::span},
    {"replay_span_ns", &PerStep::replay_span},
    {"sum_ns", &PerStep::sum},
    {"busy_ns", &PerStep::busy},
    {"foreign_ns", &PerStep::foreign},
    {"copy_only_ns", &PerStep::copy_only},
    {"idle_ns", &PerStep::idle},
    {"idle_inside_ns", &PerStep::idle_inside},
    {"idle_host_late_ns", &PerStep::idle_host_late},
    {"idle_queued_ns", &PerStep::idle_queued},
    {"idle_unknown_ns", &PerStep::idle_unknown},
    {"idle_between_ns", &PerStep::idle_between},
    {"idle_between_host_late_ns", &PerStep::between_host_late},
    {"idle_between_queued_ns", &PerStep::between_queued},
    {"idle_tail_ns", &PerStep::idle_tail},
    {"idle_tail_host_late_ns", &PerStep::tail_host_late},
    {"idle_tail_queued_ns", &PerStep::tail_queued},
    {"idle_rest_host_late_ns", &PerStep::rest_host_late},
    {"idle_rest_queued_ns", &PerStep::rest_queued},
    {"idle_rest_unknown_ns", &PerStep::rest_unknown},
    {"hidden_same_lane_ns", &PerStep::hidden_same_lane},
    {"hidden_cross_lane_ns", &PerStep::hidden_cross_lane},
    {"rank_wait_ns", &PerStep::rank_wait},
    {"kernels", &PerStep::kernels},
    {"launch_lead_ns", &PerStep::launch_lead}};

}  // namespace inferdiff
