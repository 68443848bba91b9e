// SPDX-License-Identifier: Apache-2.0
#include "ledger/capture_run.h"

#include <fmt/core.h>

#include "base/number.h"

namespace inferdiff {
namespace {

int64_t CapturesIn(const LedgerResult& ledger) {
  return static_cast<int64_t>(ledger.source.counters[Counter::kGraphCapture]);
}

}  // namespace

bool IsCaptureRun(const LedgerResult& ledger) {
  const auto& groups = ledger.steps.groups;
  const StepKind kind = ledger.group < groups.size()
                            ? groups[ledger.group].shape.kind
                            : StepKind::kUnknown;
  return (kind == StepKind::kUnknown || kind == StepKind::kOther) &&
         CapturesIn(ledger) > ledger.source.info.graph_launches;
}

std::string CaptureRunText(const LedgerResult& ledger) {
  return fmt::format(
      "captures {} and replays {}: its kernels are recorded, "
      "not run",
      Plural(CapturesIn(ledger), "graph"),
      Grouped(ledger.source.info.graph_launches));
}

}  // namespace inferdiff
