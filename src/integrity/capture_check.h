// SPDX-License-Identifier: Apache-2.0
// What makes a capture doubtful: checks by a stable id, each with its figures,
// its weight and a sentence that says what it means and how to capture better.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

enum class Weight : uint8_t {
  kNote,         // worth knowing; the figures hold
  kReservation,  // figures may be off: a comparison has a reservation
  kRefusal,      // the steps' figures are wrong: nothing can be compared
};
std::string_view IdOf(Weight weight);  // "reservation"

// The one table: constant, stable id, title. Ids are part of the JSON and of
// docs/errors.md; they are never renamed. In the order in which checks of one
// weight are printed. The title follows "A's capture: " in a verdict.
#define INFERDIFF_CAPTURE_CHECKS(X)                                            \
  X(kLateBurst, "late-burst",                                                  \
    "graph kernels are recorded long after they ran")                          \
  X(kClockJump, "clock-jump", "the GPU's clock jumps")                         \
  X(kImpossibleDuration, "impossible-duration",                                \
    "kernels have impossible durations")                                       \
  X(kMissingGraphKernels, "missing-graph-kernels",                             \
    "kernels of graph replays are missing")                                    \
  X(kGraphWithoutKernels, "graph-without-kernels",                             \
    "graph launches have no kernels")                                          \
  X(kLaunchWithoutKernel, "launch-without-kernel", "launches have no kernels") \
  X(kAmbiguousLaunch, "ambiguous-launch",                                      \
    "it is not clear which call launched which kernel")                        \
  X(kInstrumentationFloor, "instrumentation-floor",                            \
    "durations are those of the instrumentation")                              \
  X(kDilation, "dilation", "the profiler slows its steps")                     \
  X(kProfilerTime, "profiler-time",                                            \
    "the profiler's own work takes the host's time")                           \
  X(kCopyOnly, "copy-only", "copies without kernels count as busy")            \
  X(kWholeStepKernel, "whole-step-kernel",                                     \
    "one kernel lasts for most of the step")                                   \
  X(kUnevenExperts, "uneven-experts", "experts work unevenly")                 \
  X(kContextTrend, "context-trend", "step time goes with context length")      \
  X(kRepeatedRecord, "repeated-record", "records stand in it twice")           \
  X(kBackToBackStamps, "back-to-back-stamps",                                  \
    "replayed kernels are stamped back to back")

enum class CheckKind : uint8_t {
#define X(constant, id, title) constant,
  INFERDIFF_CAPTURE_CHECKS(X)
#undef X
};
std::string_view IdOf(CheckKind kind);  // "clock-jump"
std::string_view TitleOf(CheckKind kind);

/// CheckKind::kContextTrend: no context is known, the steps are in order of
/// time.
inline constexpr std::string_view kTrendByTime = "time";
/// The same, and it is attention that takes longer.
inline constexpr std::string_view kTrendOfAttention = "attention";

/// Figures of several ranks add up, whatever the kind: docs/errors.md says
/// what each of them counts.
struct CaptureCheck {
  CheckKind kind = CheckKind::kLateBurst;
  Weight weight = Weight::kNote;
  int64_t count = 0;
  int64_t of = 0;       // of so many; 0 where that means nothing
  int64_t time_ns = 0;  // 0 where no time is in question
  int64_t of_ns = 0;
  /// The step, kernel or field that shows it most; may be empty.
  std::string detail;
  /// Of a rank set: indices in LedgerResult::ranks.
  std::vector<uint32_t> ranks;
};

/// One sentence, or two; begins with a capital letter.
std::string TextOf(const CaptureCheck& check);

/// Those with `more` added, one a kind, the gravest first. Figures add up as
/// far as 64 bits hold them; the weight is the graver one.
void MergeChecks(const std::vector<CaptureCheck>& more,
                 std::vector<CaptureCheck>* checks);

/// The gravest first, then by kind.
void SortChecks(std::vector<CaptureCheck>* checks);

/// Reservations and refusals: what --strict fails on.
bool HasGraveCheck(const std::vector<CaptureCheck>& checks);

}  // namespace inferdiff
