// SPDX-License-Identifier: Apache-2.0
// The timelines as the page's script reads them.
#pragma once

#include <string>

#include "compare/timeline.h"

namespace inferdiff {

/// JSON:
///
///   {"categories": [["moe_gemm", "MoE expert GEMM", "moe"], ...],
///    "roles": ["embedding", ...],
///    "sides": [{"name": "A", "label": "library", "step": 7, "rank": "",
///               "wall": 4920000, "absent": "",
///               "kernels": [["name", category], ...],
///               "lanes": [0, 2], "counts": [400, 31],
///               "start": [...], "dur": [...], "kernel": [...], ...,
///               "layers": [[0, 412000], ...], "replays": [...]}, ...]}
///
/// Columns are by op, lane by lane. `start`, `ordinal` and `group` are
/// differences to the op before, which begins at 0 in each lane; `layer`,
/// `replay`, `wait` and `kind` are runs: value, length, value, length. None is
/// -1. Times are in ns; what does not fit a double is cut to what does.
std::string TimelineJson(const CompareResult& result);
std::string TimelineJson(const LedgerResult& ledger);

}  // namespace inferdiff
