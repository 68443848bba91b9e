// SPDX-License-Identifier: Apache-2.0
// The sentences: what was seen, what it means for the figures, and how to
// capture better. No name stands without its kind of figure.
#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "integrity/capture_check.h"

namespace inferdiff {
namespace {

/// " (12.5 %)", where there is something to have a share of.
std::string ShareText(int64_t part, int64_t whole) {
  if (whole <= 0) return "";
  return fmt::format(" ({} %)", Percent({part, 1}, {whole, 1}));
}

/// "3 of 181 kernels (1.7 %)"
std::string PartText(const CaptureCheck& check, std::string_view noun) {
  if (check.of <= 0) return Plural(check.count, noun);
  return fmt::format("{} of {}{}", Grouped(check.count), Plural(check.of, noun),
                     ShareText(check.count, check.of));
}

std::string TimeText(int64_t ns) { return Duration({ns, 1}); }

std::string_view Verb(int64_t count) { return count == 1 ? "is" : "are"; }

constexpr std::string_view kBuffers =
    "the profiler lost records: capture fewer steps, or give it larger buffers";

std::string DamageText(const CaptureCheck& check) {
  const bool once = check.count == 1;
  if (check.kind == CheckKind::kClockJump) {
    return fmt::format(
        "The GPU's clock jumps {}against the host's by about {}{}: steps "
        "around {} are left out, and launch leads behind {} mean nothing; "
        "capture again.",
        once ? "" : fmt::format("{} times ", Grouped(check.count)),
        TimeText(check.time_ns), once ? "" : " in all", once ? "it" : "them",
        once ? "it" : "the first");
  }
  return fmt::format(
      "{} an impossible duration: recorded as ending {} later{} than {} can "
      "have. Steps that this touches are left out; capture again, or with a "
      "newer profiler.",
      once ? "1 kernel has"
           : fmt::format("{} kernels have", Grouped(check.count)),
      TimeText(check.time_ns), once ? "" : " in all", once ? "it" : "they");
}

std::string LossText(const CaptureCheck& check) {
  switch (check.kind) {
    case CheckKind::kMissingGraphKernels:
      return fmt::format(
          "{} of graph replays {} missing, by other replays of the same graph: "
          "{}. The steps are left out, but others may lack eager kernels "
          "unseen.",
          PartText(check, "kernel"), Verb(check.count), kBuffers);
    case CheckKind::kGraphWithoutKernels:
      return fmt::format("{} {} no GPU records at all: {}.",
                         PartText(check, "graph launch call"),
                         check.count == 1 ? "has" : "have", kBuffers);
    case CheckKind::kLaunchWithoutKernel:
      return fmt::format(
          "{} {} no kernel in the trace, though later ones have: {}. Busy time "
          "and counts are too low by what is missing.",
          PartText(check, "kernel launch call"),
          check.count == 1 ? "has" : "have", kBuffers);
    default:
      break;
  }
  return "";
}

std::string HostText(const CaptureCheck& check) {
  switch (check.kind) {
    case CheckKind::kAmbiguousLaunch:
      return fmt::format(
          "{} {} launched under a correlation id that several calls have, as "
          "where files of several processes were merged: which call launched "
          "them, and so their step, is a guess. Name the files of each process "
          "instead: several are taken as the ranks of a set.",
          PartText(check, "operation"), check.count == 1 ? "was" : "were");
    case CheckKind::kRepeatedRecord:
      return fmt::format(
          "{} of the GPU {} in the file twice, to the nanosecond, and {} once. "
          "Was a rank merged into it twice?",
          Plural(check.count, "record"), check.count == 1 ? "stands" : "stand",
          check.count == 1 ? "counts" : "count");
    case CheckKind::kProfilerTime:
      return fmt::format(
          "The profiler's own work ({}) takes {} of the host's time during the "
          "used steps{}: part of their idle time is its doing. Warm the "
          "profiler up before the steps that count, and trace less beside the "
          "GPU.",
          Plural(check.count, "event"), TimeText(check.time_ns),
          ShareText(check.time_ns, check.of_ns));
    default:
      break;
  }
  return "";
}

std::string StampText(const CaptureCheck& check) {
  switch (check.kind) {
    case CheckKind::kLateBurst:
      return fmt::format(
          "The {} of graph replays {} recorded in one burst behind all of "
          "their steps, as the profiler flushed them: which step they ran in "
          "and when is unknown, and the steps' figures are wrong. Capture "
          "without markers or with graphs disabled, or with a newer profiler.",
          Plural(check.count, "kernel"), check.count == 1 ? "was" : "were");
    case CheckKind::kInstrumentationFloor:
      return fmt::format(
          "{} take {} at least, whatever they do: that is what instrumenting a "
          "kernel costs, and durations are upper bounds. Capture with a "
          "profiler that does not serialise kernels.",
          PartText(check, "distinct kernel"), TimeText(check.time_ns));
    case CheckKind::kBackToBackStamps:
      return fmt::format(
          "Kernels of graph replays are stamped back to back{}: what "
          "dispatching them costs sits in their durations, not in gaps between "
          "them. Short kernels are not comparable with another platform's one "
          "by one.",
          ShareText(check.count, check.of));
    default:
      break;
  }
  return "";
}

/// Of a step, or a share: of `n` that is 0 only in a damaged ledger file.
std::string MeanText(int64_t total, int64_t n) {
  return Duration({total, n > 0 ? n : 1});
}

std::string DilationText(const CaptureCheck& check) {
  const bool slower = check.time_ns >= check.of_ns;
  const Rational more = Rational{check.time_ns, 1} - Rational{check.of_ns, 1};
  return fmt::format(
      "Steps take {} with the profiler and {} without: {} % {}{}.",
      MeanText(check.time_ns, check.count), MeanText(check.of_ns, check.count),
      Percent(Magnitude(more), {check.of_ns, 1}), slower ? "slower" : "faster",
      check.weight == Weight::kNote ? ""
                                    : "; what it adds lands in the idle time");
}

std::string AmountText(const CaptureCheck& check) {
  const std::string share = ShareText(check.time_ns, check.of_ns);
  switch (check.kind) {
    case CheckKind::kDilation:
      return DilationText(check);
    case CheckKind::kCopyOnly:
      return fmt::format(
          "For {} a step{} copies run and no kernel: that counts as busy, and "
          "is waiting for data.",
          MeanText(check.time_ns, check.count), share);
    case CheckKind::kWholeStepKernel:
      return fmt::format(
          "One call of {} lasts for half of a step or more{}: it spins, waits "
          "or "
          "holds the whole model, and busy does not mean useful. What it does "
          "inside no trace of kernels shows.",
          Quoted(check.detail), share);
    case CheckKind::kUnevenExperts:
      return fmt::format(
          "Expert GEMMs at one place of the step take unlike long from step to "
          "step: 10th and 90th percentile are {} % of the median apart. Equal "
          "shapes are unequal work: routing is skewed, or weights are dummies. "
          "Compare expert GEMMs over many steps only.",
          Percent({check.time_ns, 1}, {check.of_ns, 1}, 0));
    case CheckKind::kContextTrend:
      if (check.detail == kTrendOfAttention) {
        return fmt::format(
            "Attention grows over the capture: in the last third of its steps "
            "it takes {} longer{} than in the first, as where the cache of "
            "each sequence grows. That is a trend, no spread: compare captures "
            "that begin at equal context and are equally long.",
            MeanText(check.time_ns, check.count), share);
      }
      if (check.detail == kTrendByTime) {
        return fmt::format(
            "Step time grows over the capture: its last third of steps takes "
            "{} longer{} than its first, as where the cache of each sequence "
            "grows. That is a trend, no spread: compare captures that begin at "
            "equal context and are equally long.",
            MeanText(check.time_ns, check.count), share);
      }
      return fmt::format(
          "Step time goes with context length: the third of the steps with "
          "most "
          "context takes {} longer{} than the third with least. That is a "
          "trend, no spread: compare steps of equal context.",
          MeanText(check.time_ns, check.count), share);
    default:
      break;
  }
  return "";
}

}  // namespace

std::string TextOf(const CaptureCheck& check) {
  switch (check.kind) {
    case CheckKind::kClockJump:
    case CheckKind::kImpossibleDuration:
      return DamageText(check);
    case CheckKind::kMissingGraphKernels:
    case CheckKind::kGraphWithoutKernels:
    case CheckKind::kLaunchWithoutKernel:
      return LossText(check);
    case CheckKind::kAmbiguousLaunch:
    case CheckKind::kRepeatedRecord:
    case CheckKind::kProfilerTime:
      return HostText(check);
    case CheckKind::kLateBurst:
    case CheckKind::kInstrumentationFloor:
    case CheckKind::kBackToBackStamps:
      return StampText(check);
    default:
      break;
  }
  return AmountText(check);
}

}  // namespace inferdiff
