// SPDX-License-Identifier: Apache-2.0
// Checks of a capture that need the accounted amounts: what counts as busy and
// is no work, and what the mean of the steps hides.
#pragma once

#include <cstdint>
#include <optional>

#include "ledger/ledger.h"

namespace inferdiff {

/// Copies that run while no kernel does: a tenth of the steps and more is a
/// reservation, a fiftieth a note. Of 26 public traces, two have a fiftieth.
std::optional<CaptureCheck> CheckCopyOnly(const LedgerResult& ledger);

/// A kernel that is no collective and whose median call lasts for half a step:
/// it waits or spins, or holds the whole model. Steps of fewer than eight
/// kernels are a benchmark of one.
std::optional<CaptureCheck> CheckWholeStepKernel(const LedgerResult& ledger);

/// Steps with more context take longer, or, where no marker says the context,
/// later ones, whose caches have grown: context and step time correlate (by
/// Kendall's test at 1 %; where time stands for context, which has other causes
/// too, 85 % of all pairs of steps are in order), and the third with most
/// context takes 2 % longer than the third with least. Of steps that do the
/// work of the accounted group, of eight at least, and 16 where time stands for
/// context; at most 1024, evenly spread. Nothing where attention, which tells
/// it from fewer, has said so (ledger/attention_check.h).
std::optional<CaptureCheck> CheckContextTrend(const LedgerResult& ledger);

/// What profiling adds to a step that takes `untraced_ns` without: a
/// reservation from a twentieth on.
std::optional<CaptureCheck> CheckDilation(const LedgerResult& ledger,
                                          int64_t untraced_ns);

/// Puts the first three and the dilation, where a time is known, with the
/// ledger's checks.
void AddAmountChecks(LedgerResult* ledger);
void AddDilation(std::optional<int64_t> untraced_ns, LedgerResult* ledger);

}  // namespace inferdiff
