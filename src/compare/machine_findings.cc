// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "base/number.h"
#include "compare/findings.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

/// "A has to read 8.03 GB a step, 2.19 ms at 8.00 TB/s (datasheet)"
std::string ReadText(std::string_view name, const MachineSide& side) {
  return fmt::format("{} has to read {} a step, {} at {} ({})", name,
                     Bytes(static_cast<uint64_t>(side.bytes.total())),
                     Duration(side.floor), SpeedText(side.bandwidth),
                     side.bandwidth.source);
}

}  // namespace

void FindMachineShare(const CompareResult& result, FindingList* out) {
  if (!result.machine || !result.machine->split) return;
  const Machine& machine = *result.machine;
  const Gap& gap = result.gap;
  const MachineSplit& split = *machine.split;
  std::string text = fmt::format("{}; {}.", ReadText("A", machine.a),
                                 ReadText("B", machine.b));
  if (gap.slower != Side::kNeither) {
    const Rational machines = Oriented(gap, split.bandwidth);
    const Rational bytes = Oriented(gap, split.bytes);
    const Rational beyond = Oriented(gap, split.beyond);
    text += fmt::format(
        " Of the {} that {} takes longer, {} is its memory bandwidth",
        Duration(Magnitude(split.total)), NameOf(gap.slower),
        SignedDuration(machines));
    if (bytes.num != 0)
      text += fmt::format(", {} the bytes that it reads more",
                          SignedDuration(bytes));
    text += fmt::format(", and {} is beyond both.", SignedDuration(beyond));
  }
  out->Add("machine", std::move(text), HowKnown::kEstimate);
}

}  // namespace inferdiff
