// SPDX-License-Identifier: Apache-2.0
#include "integrity/check_capture.h"

#include <algorithm>

#include "base/checked.h"
#include "integrity/host_checks.h"
#include "integrity/stamp_checks.h"

namespace inferdiff {
namespace {

using Checks = std::vector<CaptureCheck>;

bool AnyUsed(const Steps& steps) {
  return std::any_of(steps.steps.begin(), steps.steps.end(),
                     [](const Step& step) { return step.excluded_id.empty(); });
}

/// Steps left out for it are no longer in the figures; without any other the
/// capture is of no use.
void CheckDamage(const Steps& steps, DamageKind damaged, CheckKind kind,
                 Checks* out) {
  CaptureCheck check;
  check.kind = kind;
  check.weight = AnyUsed(steps) ? Weight::kReservation : Weight::kRefusal;
  for (const Damage& damage : steps.damage) {
    if (damage.kind != damaged) continue;
    ++check.count;
    check.time_ns = SaturatingAdd(
        check.time_ns, SaturatingSub(damage.end_ns, damage.begin_ns));
  }
  if (check.count > 0) out->push_back(std::move(check));
}

/// The first and the last replay may be cut by the window of the trace, which
/// is no loss.
void CheckMissing(const Steps& steps, Checks* out) {
  CaptureCheck check;
  check.kind = CheckKind::kMissingGraphKernels;
  check.weight = Weight::kReservation;
  for (size_t i = 0; i < steps.replays.size(); ++i) {
    const Replay& replay = steps.replays[i];
    const bool cut = i == 0 || i + 1 == steps.replays.size();
    check.of += int64_t{replay.ops} + replay.missing_ops;
    if (!cut) check.count += replay.missing_ops;
  }
  if (check.count > 0) out->push_back(std::move(check));
}

}  // namespace

std::vector<CaptureCheck> CheckCapture(const Trace& trace,
                                       const Classification& classes,
                                       const Steps& steps) {
  Checks out;
  const auto add = [&](std::optional<CaptureCheck> check) {
    if (check) out.push_back(*std::move(check));
  };
  add(CheckBurst(trace, steps));
  CheckDamage(steps, DamageKind::kClockJump, CheckKind::kClockJump, &out);
  CheckDamage(steps, DamageKind::kImpossibleDuration,
              CheckKind::kImpossibleDuration, &out);
  CheckMissing(steps, &out);
  add(CheckLostGraphs(trace));
  add(CheckLostLaunches(trace, steps));
  add(CheckAmbiguous(trace));
  add(CheckRepeated(trace));
  add(CheckProfilerTime(trace, steps));
  add(CheckFloor(trace, classes));
  add(CheckBackToBack(trace, steps));
  SortChecks(&out);
  return out;
}

}  // namespace inferdiff
