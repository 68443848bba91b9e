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

/// Does an op of its main lane run behind the replay? A lane runs in order.
bool IsFollowed(const Trace& trace, const Replay& replay) {
  const GpuOps& ops = trace.ops;
  for (size_t i = ops.size(); i-- > 0 && ops.start_ns[i] >= replay.end_ns;)
    if (ops.lane[i] == replay.main_lane) return true;
  return false;
}

/// The window of the trace may cut a first replay without its launch call and a
/// last one that nothing follows, which is no loss.
void CheckMissing(const Trace& trace, const Steps& steps, Checks* out) {
  CaptureCheck check;
  check.kind = CheckKind::kMissingGraphKernels;
  check.weight = AnyUsed(steps) ? Weight::kReservation : Weight::kRefusal;
  for (size_t i = 0; i < steps.replays.size(); ++i) {
    const Replay& replay = steps.replays[i];
    check.of += int64_t{replay.ops} + replay.missing_ops;
    if (replay.missing_ops == 0) continue;
    const bool cut =
        (i == 0 && replay.launch == kNone) ||
        (i + 1 == steps.replays.size() && !IsFollowed(trace, replay));
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
  CheckMissing(trace, steps, &out);
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
