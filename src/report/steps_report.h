// SPDX-License-Identifier: Apache-2.0
// The steps of a trace: evidence first, since it is what people dispute.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text_pieces.h"
#include "ledger/ledger.h"
#include "report/document.h"
#include "steps/steps.h"

namespace inferdiff {

struct StepsReport {
  Provenance source;
  const Steps& steps;
  std::vector<CaptureCheck> checks;
  int64_t first_op_ns = 0;           // of the device, in a step or not
  std::optional<StepLayers> layers;  // of the representative step
};

Document StepsDocument(const StepsReport& report);
void WriteStepsJson(const StepsReport& report, const TextSink& sink);
/// A line a step: step, group, kind, batch, tokens, context, begin_ns,
/// wall_ns, ops, excluded, marker. Unknown is empty.
std::string StepsTsv(const StepsReport& report);

}  // namespace inferdiff
