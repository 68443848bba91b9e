// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "compare/findings.h"
#include "compare/sentences.h"
#include "compare/setup.h"
#include "ledger/capture_text.h"
#include "ledger/left_out.h"

namespace inferdiff {
namespace {

constexpr int64_t kFewSteps = 3;

/// AMD stamps replayed kernels back to back, so the cost of a dispatch is in
/// the durations; NVIDIA leaves it in the gaps. Eager launches gap for other
/// reasons again.
void DoubtIdleInside(const CompareResult& result, FindingList* out) {
  const bool graphs_a = RunsGraphs(result.a);
  const bool graphs_b = RunsGraphs(result.b);
  if (!graphs_a && !graphs_b) return;
  const bool vendors_meet =
      result.a.source.info.vendor != result.b.source.info.vendor;
  if (!vendors_meet && graphs_a == graphs_b) return;
  const SideView a = ViewOf(result, Side::kA);
  const SideView b = ViewOf(result, Side::kB);
  out->Add(
      "idle-inside-is-work",
      fmt::format(
          "Idle inside graph replays (A {}, B {} a step) counts as work: {}",
          Duration(a.totals.PerStep(a.totals.idle_inside_ns)),
          Duration(b.totals.PerStep(b.totals.idle_inside_ns)),
          vendors_meet
              ? "AMD traces stamp replayed kernels back to back, so the cost "
                "of a dispatch sits in the durations there and in the gaps on "
                "NVIDIA. Small kernels of the two are not comparable one by "
                "one."
              : "gaps between kernels of a graph are the machine's, gaps "
                "between eager kernels mostly the host's."));
}

/// What profiling adds to a step is mostly host time, and lands in the idle
/// time between launches.
void DoubtProfiler(const CompareResult& result, FindingList* out) {
  if (result.gap.basis == Basis::kReplaySpan) return;
  if (result.untraced.a && result.untraced.b) return;  // measured instead
  const SideView a = ViewOf(result, Side::kA);
  const SideView b = ViewOf(result, Side::kB);
  const Rational idle_a = a.totals.PerStep(a.totals.idle_outside_ns);
  const Rational idle_b = b.totals.PerStep(b.totals.idle_outside_ns);
  if (!AtLeastPercent(idle_a, a.headline(), 5) &&
      !AtLeastPercent(idle_b, b.headline(), 5))
    return;
  out->Add(
      "profiler-overhead",
      fmt::format("Profiling slows the host, and the {} (A {}, B {} a "
                  "step) holds what it adds: time a step without the "
                  "profiler before acting on it.",
                  IdleTitle(result.gap), Duration(idle_a), Duration(idle_b)));
}

/// Hidden time bounds what overlap is worth, but for what else the serial
/// layout changes.
void DoubtWorth(const SideView& side, const Overlap& overlap,
                FindingList* out) {
  if (!overlap.measured || !overlap.bound) return;
  const Rational worth = overlap.measured->worth;
  if (!AtLeastPercent(worth, side.headline(), 1) ||
      !(*overlap.bound + *overlap.bound < worth))
    return;
  out->Add("serial-worth", side.side,
           fmt::format("Without its side streams {} takes {} more, and hides "
                       "no more than {} beside them: the serial layout differs "
                       "in more than its streams.",
                       side.name(), Duration(worth), Duration(*overlap.bound)));
}

void DoubtRanks(const SideView& side, FindingList* out) {
  const size_t index = static_cast<size_t>(Category::kCommunication);
  if (IsMeasured(side.totals.wait_basis) ||
      side.totals.categories[index].count == 0)
    return;
  if (side.ledger.published) {
    out->Add("table-waits", side.side,
             fmt::format("{}: a table does not tell waiting for other ranks "
                         "from transfer, so its communication ({} a step) is "
                         "an upper bound.",
                         side.name(),
                         Duration(side.totals.PerStep(
                             side.totals.categories[index].attributed_ns))));
    return;
  }
  const std::optional<int64_t> world = side.ledger.source.info.world_size;
  const std::string here =
      world ? fmt::format("Only one of {}'s {} ranks is here", side.name(),
                          *world)
            : fmt::format("Only one rank of {} is here", side.name());
  out->Add("one-rank", side.side,
           fmt::format("{}: {}, so its communication ({} a step) is an upper "
                       "bound.",
                       here,
                       side.totals.wait_basis == WaitBasis::kOneRank
                           ? "waiting that is as long in every step cannot be "
                             "told from transfer"
                           : "waiting for other ranks cannot be told from "
                             "transfer",
                       Duration(side.totals.PerStep(
                           side.totals.categories[index].attributed_ns))));
}

void DoubtSteps(const SideView& side, Basis basis, FindingList* out) {
  const LedgerResult& ledger = side.ledger;
  if (ledger.published) {
    out->Add("published-table", side.side,
             fmt::format("{} is a published table: its rows fit into its "
                         "total, and nothing else of it can be checked.",
                         side.name()));
    return;
  }
  if (ledger.used_steps < kFewSteps && basis == Basis::kWall) {
    out->Add("few-steps", side.side,
             fmt::format("{} has {}: no spread can be given.", side.name(),
                         Plural(ledger.used_steps, "used step")));
  }
  if (ledger.used_steps > 1 && basis != Basis::kWall) {
    out->Add("median-step", side.side,
             fmt::format("One step of {} stands for {}: its step {}, the "
                         "median.",
                         side.name(), ledger.used_steps,
                         ledger.representative_step));
  }
  if (side.totals.left_out_ops > 0) {
    out->Add(
        "left-out", side.side,
        fmt::format("{} more operations of {}'s step ({}) run around the "
                    "replay: they are in Cycles, and in no part of the gap.",
                    Grouped(side.totals.left_out_ops), side.name(),
                    Duration({side.totals.left_out_ns, 1})));
  }
  if (ledger.steps.evidence == Evidence::kWholeTrace ||
      ledger.steps.evidence == Evidence::kKernelPeriod) {
    out->Add("weak-evidence", side.side,
             ledger.steps.evidence == Evidence::kWholeTrace
                 ? fmt::format("Nothing in {} marks a step or repeats: the "
                               "whole trace counts as one step.",
                               side.name())
                 : fmt::format("{}'s steps come from the period of its "
                               "kernels, not from markers.",
                               side.name()));
  }
  if (!ledger.steps.cross_check_agrees) {
    const bool cut = ledger.source.info.truncated;
    out->Add("cross-check", side.side,
             fmt::format("{}'s {}: {}.", side.name(),
                         cut ? "file is cut off, which puts its step borders "
                               "in doubt"
                             : "step borders disagree with a second kind of "
                               "evidence",
                         ledger.steps.cross_check));
  }
}

void DoubtExcluded(const SideView& side, FindingList* out) {
  const LedgerResult& ledger = side.ledger;
  for (const LeftOutReason& reason :
       LeftOutReasons(ledger.steps, ledger.group, ledger.ranks)) {
    out->Add("left-out-steps." + reason.id, side.side,
             LeftOutText(reason, side.name()));
  }
}

bool HasTrend(const LedgerResult& ledger) {
  const std::vector<CaptureCheck>& checks = ledger.capture_checks;
  return std::any_of(checks.begin(), checks.end(), [](const CaptureCheck& one) {
    return one.kind == CheckKind::kContextTrend;
  });
}

void DoubtSpread(const SideView& side, FindingList* out) {
  if (HasTrend(side.ledger)) return;  // which explains it
  const Stat& wall = side.ledger.per_step.wall;
  if (wall.n < kFewSteps || wall.median <= 0) return;
  // A tenth of the steps 20 % above the median, or one at the double: the
  // mean that the split rests on is then not what most steps take.
  if (wall.p90 - wall.median < wall.median / 5 &&
      wall.max - wall.median < wall.median)
    return;
  out->Add("spread", side.side,
           fmt::format("{}'s steps spread: median {}, 90 % below {}, longest "
                       "{}; the split is of the mean, {}.",
                       side.name(), Duration({wall.median, 1}),
                       Duration({wall.p90, 1}), Duration({wall.max, 1}),
                       Duration(wall.mean())));
}

void DoubtNoise(const CompareResult& result, FindingList* out) {
  const Stat& a = result.a.per_step.wall;
  const Stat& b = result.b.per_step.wall;
  if (!WithinSpread(result)) return;
  out->Add("within-spread",
           fmt::format("The difference is within the spread of single steps: "
                       "80 % of A's take {} to {}, of B's {} to {}.",
                       Duration({a.p10, 1}), Duration({a.p90, 1}),
                       Duration({b.p10, 1}), Duration({b.p90, 1})));
}

void DoubtCoverage(const SideView& side, FindingList* out) {
  const Coverage& coverage = side.ledger.coverage;
  const int64_t unnamed = coverage.unclassified_ns + coverage.other_ns;
  if (AtLeastPercent({unnamed, 1}, {coverage.total_ns, 1}, 1) && unnamed > 0) {
    out->Add("unclassified", side.side,
             fmt::format("{} of {}'s GPU time is unclassified or other ({} in "
                         "the whole file).",
                         Share({unnamed, 1}, {coverage.total_ns, 1}, 1),
                         side.name(), Duration({unnamed, 1})));
  }
  const Rational foreign = side.totals.PerStep(side.totals.foreign_ns);
  if (foreign.num > 0 && AtLeastPercent(foreign, side.headline(), 1)) {
    out->Add("foreign", side.side,
             fmt::format("{} a step of {} ({}) belongs to none of its steps.",
                         Duration(foreign), side.name(),
                         Share(foreign, side.headline(), 1)));
  }
}

void DoubtCapture(const SideView& side, FindingList* out) {
  for (const CaptureCheck& check : side.ledger.capture_checks) {
    // Said of both sides together: DoubtIdleInside.
    if (check.kind == CheckKind::kBackToBackStamps) continue;
    out->Add(IdOf(check.kind), side.side,
             fmt::format("{}'s capture: {}", side.name(),
                         CaptureText(check, side.ledger)));
  }
}

void DoubtImport(const SideView& side, FindingList* out) {
  const Provenance& source = side.ledger.source;
  // The cross-check has said so.
  if (source.info.truncated && side.ledger.steps.cross_check_agrees) {
    out->Add("truncated", side.side,
             fmt::format("{}'s file is cut off.", side.name()));
  }
  // The cut itself is no record.
  const auto dropped =
      static_cast<int64_t>(side.ledger.coverage.dropped_records -
                           std::min(side.ledger.coverage.dropped_records,
                                    source.counters[Counter::kTruncatedInput]));
  if (dropped > 0) {
    out->Add("dropped", side.side,
             fmt::format("{} of {} {} dropped when it was read.",
                         Plural(dropped, "record"), side.name(),
                         dropped == 1 ? "was" : "were"));
  }
}

}  // namespace

bool WithinSpread(const CompareResult& result) {
  const Stat& a = result.a.per_step.wall;
  const Stat& b = result.b.per_step.wall;
  return result.gap.basis == Basis::kWall &&
         result.gap.slower != Side::kNeither && a.n > 1 && b.n > 1 &&
         a.p90 >= b.p10 && b.p90 >= a.p10;
}

std::vector<Finding> FindDoubts(const CompareResult& result) {
  FindingList out(FindingKind::kDoubt);
  const SideView sides[] = {ViewOf(result, Side::kA), ViewOf(result, Side::kB)};
  for (const SideView& side : sides) DoubtCapture(side, &out);
  if (result.comparable.verdict != Comparability::kNo) {
    DoubtNoise(result, &out);
    DoubtIdleInside(result, &out);
    DoubtProfiler(result, &out);
    DoubtWorth(sides[0], result.causes.a, &out);
    DoubtWorth(sides[1], result.causes.b, &out);
  }
  for (const SideView& side : sides) DoubtRanks(side, &out);
  for (const SideView& side : sides) DoubtSpread(side, &out);
  for (const SideView& side : sides) DoubtSteps(side, result.gap.basis, &out);
  for (const SideView& side : sides) DoubtExcluded(side, &out);
  for (const SideView& side : sides) DoubtCoverage(side, &out);
  for (const SideView& side : sides) DoubtImport(side, &out);
  return out.Take();
}

}  // namespace inferdiff
