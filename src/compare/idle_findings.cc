// SPDX-License-Identifier: Apache-2.0
#include "compare/idle_findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/number.h"
#include "base/text.h"
#include "compare/sentences.h"
#include "compare/setup.h"

namespace inferdiff {
namespace {

// A side's idle time is worth a sentence from these shares of its step on.
constexpr int64_t kNoticeablePercent = 1;
constexpr int64_t kHostBoundPercent = 5;

/// Ops that the host launches one by one, of the representative step: those
/// between its replays, or the others.
struct Launches {
  int64_t ops = 0, attributed_ns = 0;
  std::vector<std::string> families;  // by number
};

Launches LaunchesOf(const LedgerResult& ledger, bool between) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (const SequenceOp& op : ledger.sequence) {
    if (op.replay == kNone) continue;
    first = std::min(first, op.start_ns);
    last = std::max(last, op.start_ns);
  }
  Launches found;
  std::map<std::string_view, int64_t> counts;
  for (const SequenceOp& op : ledger.sequence) {
    const bool is_between = first <= op.start_ns && op.start_ns <= last;
    if (op.replay != kNone || is_between != between) continue;
    ++found.ops;
    found.attributed_ns += op.attributed_ns;
    ++counts[ledger.kernels[op.kernel].family];
  }
  std::vector<std::pair<std::string_view, int64_t>> sorted(counts.begin(),
                                                           counts.end());
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto& x, const auto& y) { return y.second < x.second; });
  for (const auto& [family, count] : sorted)
    found.families.push_back(
        fmt::format("{} {}", count, Quoted(ElideMiddle(family, 44))));
  return found;
}

/// " (6 `x`, 3 `y` ...)".
std::string Named(const Launches& launches) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < launches.families.size() && i < kNamed; ++i)
    text += (i == 0 ? " (" : ", ") + launches.families[i];
  if (text.empty()) return text;
  return text + (launches.families.size() > kNamed ? " ...)" : ")");
}

/// "14 ", or nothing where a ledger tells no operations.
std::string ReplaysOf(const LedgerResult& ledger) {
  uint32_t most = 0;
  for (const SequenceOp& op : ledger.sequence)
    if (op.replay != kNone) most = std::max(most, op.replay + 1);
  return most == 0 ? "" : fmt::format("{} ", most);
}

/// Is most of its step in replays, as far as it tells?
bool Replays(const LedgerResult& ledger) {
  return ledger.sequence.empty() ? ledger.per_step.replay_span.total > 0
                                 : RunsGraphs(ledger);
}

Rational OutsideOf(const SideView& side) {
  return side.totals.PerStep(side.totals.idle_outside_ns);
}

/// ", 434 µs of it because the launch comes late".
std::string Late(const SideView& side, const LaunchCauses& causes) {
  if (causes.host_late == 0) return "";
  return fmt::format(", {} of it before the host has launched them",
                     Duration(side.totals.PerStep(causes.host_late)));
}

std::string TailText(const SideView& side) {
  const LaunchCauses& tail = side.totals.idle_causes->tail;
  const Launches launches = LaunchesOf(side.ledger, false);
  const bool known = launches.ops > 0;  // a ledger's JSON tells no operations
  return fmt::format(
      "{} launches {} a step one by one around its graph replays{}: the GPU is "
      "idle {} in front of them{}{}.",
      side.name(), known ? Plural(launches.ops, "operation") : "operations",
      Named(launches), Duration(side.totals.PerStep(tail.total())),
      Late(side, tail),
      known ? fmt::format(", and works {} on them",
                          Duration({launches.attributed_ns, 1}))
            : "");
}

std::string BetweenText(const SideView& side) {
  const LaunchCauses& between = side.totals.idle_causes->between;
  const Launches launches = LaunchesOf(side.ledger, true);
  std::string text =
      fmt::format("{}'s GPU is idle {} a step between its {}graph replays{}.",
                  side.name(), Duration(side.totals.PerStep(between.total())),
                  ReplaysOf(side.ledger), Late(side, between));
  if (launches.ops > 0)
    text += fmt::format(" {} launched one by one there{}.",
                        launches.ops == 1
                            ? "1 operation is"
                            : Plural(launches.ops, "operation") + " are",
                        Named(launches));
  return text;
}

std::string EagerText(const CompareResult& result, const SideView& side) {
  const SideView other = ViewOf(result, Other(side.side));
  const LaunchCauses& rest = side.totals.idle_causes->rest;
  return fmt::format(
      "{} launches its {} operations a step one by one, {} replays graphs: its "
      "GPU is idle {} a step ({} of it){}; {} is idle {}.",
      side.name(), CountText(side.totals.PerStep(side.totals.all.count)),
      other.name(), Duration(OutsideOf(side)),
      Share(OutsideOf(side), side.headline(), 0), Late(side, rest),
      other.name(), Duration(OutsideOf(other)));
}

std::string_view IdOfKind(IdleGain::Kind kind) {
  constexpr std::string_view kIds[] = {"host-tail", "between-replays",
                                       "no-graphs"};
  return kIds[static_cast<size_t>(kind)];
}

std::string_view AdviceFor(IdleGain::Kind kind) {
  constexpr std::string_view kAdvice[] = {
      "put them in the graph, or launch them while it still runs",
      "put what runs between in one graph, or launch the next replay before "
      "the one in front has ended",
      "capture the step in a graph"};
  return kAdvice[static_cast<size_t>(kind)];
}

/// What a side has of it, a step; nothing where it does not tell.
std::optional<Rational> IdleOf(const SideView& side, IdleGain::Kind kind) {
  const SideTotals& totals = side.totals;
  if (!totals.idle_causes) return std::nullopt;
  switch (kind) {
    case IdleGain::Kind::kTail:
      return totals.PerStep(totals.idle_causes->tail.total());
    case IdleGain::Kind::kBetween:
      return totals.PerStep(totals.idle_causes->between.total());
    case IdleGain::Kind::kEager:
      break;
  }
  // What a graph leaves between its kernels it would have, too.
  return totals.PerStep(totals.idle_outside_ns + totals.idle_inside_ns);
}

std::string TextOf(const CompareResult& result, const SideView& side,
                   IdleGain::Kind kind) {
  if (kind == IdleGain::Kind::kTail) return TailText(side);
  if (kind == IdleGain::Kind::kBetween) return BetweenText(side);
  return EagerText(result, side);
}

/// Where a graph is missing, its tail is no cause of its own.
std::vector<IdleGain::Kind> KindsOf(const SideView& side) {
  if (!Replays(side.ledger)) return {IdleGain::Kind::kEager};
  return {IdleGain::Kind::kTail, IdleGain::Kind::kBetween};
}

void AddGain(const CompareResult& result, const IdleGain& gain,
             FindingList* out) {
  const SideView side = ViewOf(result, result.gap.slower);
  std::string text = TextOf(result, side, gain.kind);
  if (gain.prize) {
    text += fmt::format(
        " It is idle {} more than {} in the traces; the times without the "
        "profiler leave {} for all differences in idle time.",
        Duration(gain.bound), NameOf(Other(side.side)),
        Duration(*IdleLeft(result)));
  } else {
    text += " The profiler slows launches: without it there is less to gain.";
  }
  Finding& finding =
      out->Add(IdOfKind(gain.kind), side.side, std::move(text),
               gain.prize ? HowKnown::kEstimate : HowKnown::kBound);
  finding.prize = gain.prize;
  if (!gain.prize) finding.bound = gain.bound;
  finding.advice = AdviceFor(gain.kind);
}

/// What a side idles that is no gain: as a fact.
void AddFacts(const CompareResult& result, const SideView& side,
              const std::vector<IdleGain>& gains, FindingList* out) {
  for (const IdleGain::Kind kind : KindsOf(side)) {
    if (kind == IdleGain::Kind::kEager) continue;  // host-bound says it
    const bool is_gain =
        side.side == result.gap.slower &&
        std::any_of(gains.begin(), gains.end(),
                    [&](const IdleGain& gain) { return gain.kind == kind; });
    const auto idle = IdleOf(side, kind);
    if (is_gain || !idle ||
        !AtLeastPercent(*idle, side.headline(), kNoticeablePercent))
      continue;
    out->Add(IdOfKind(kind), side.side, TextOf(result, side, kind));
  }
}

/// What waits for a replay, and all of a side without replays.
void AddRest(const CompareResult& result, const SideView& side,
             const std::vector<IdleGain>& gains, FindingList* out) {
  const bool eager = !Replays(side.ledger);
  if (!side.totals.idle_causes ||
      (eager && side.side == result.gap.slower && !gains.empty()))
    return;
  const LaunchCauses& rest = side.totals.idle_causes->rest;
  const Rational late = side.totals.PerStep(rest.host_late);
  if (AtLeastPercent(late, side.headline(), kHostBoundPercent)) {
    out->Add("host-bound", side.side,
             fmt::format("{}'s GPU waits {} a step ({} of it) for the host to "
                         "launch the next {}{}.",
                         side.name(), Duration(late),
                         Share(late, side.headline(), 0),
                         eager ? "kernel" : "replay",
                         eager ? "; the profiler slows every launch, so "
                                 "without it the wait is shorter"
                               : ""),
             eager ? HowKnown::kBound : HowKnown::kMeasured);
  }
  const Rational queued = side.totals.PerStep(rest.queued);
  if (AtLeastPercent(queued, side.headline(), kHostBoundPercent)) {
    out->Add("queued-idle", side.side,
             fmt::format("{}'s GPU is idle {} a step ({} of it) although the "
                         "next {} is launched: dispatch gaps, or a wait on "
                         "another stream.",
                         side.name(), Duration(queued),
                         Share(queued, side.headline(), 0),
                         eager ? "kernel" : "replay"));
  }
}

}  // namespace

std::optional<Rational> IdleLeft(const CompareResult& result) {
  const Gap& gap = result.gap;
  if (!result.causes.untraced || result.serial_a || result.serial_b)
    return std::nullopt;
  const Rational busy = gap.total - gap.idle - gap.idle_inside;
  return Oriented(gap, result.causes.total - busy);
}

std::vector<IdleGain> IdleGains(const CompareResult& result) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither || gap.basis != Basis::kWall) return {};
  const SideView slow = ViewOf(result, gap.slower);
  const SideView fast = ViewOf(result, Other(gap.slower));
  std::vector<IdleGain> gains;
  for (const IdleGain::Kind kind : KindsOf(slow)) {
    // Where both launch one by one, that is no difference.
    if (kind == IdleGain::Kind::kEager && !Replays(fast.ledger)) continue;
    const auto of_slow = IdleOf(slow, kind), of_fast = IdleOf(fast, kind);
    if (!of_slow || !of_fast) continue;
    const Rational more = *of_slow - *of_fast;
    if (more.num <= 0 || !AtLeastPercent(more, Magnitude(result.causes.total),
                                         kNoticeablePercent))
      continue;
    gains.push_back({kind, more, std::nullopt});
  }
  std::stable_sort(
      gains.begin(), gains.end(),
      [](const IdleGain& x, const IdleGain& y) { return y.bound < x.bound; });
  auto left = IdleLeft(result);
  if (!left) return gains;
  // What the times without the profiler deny is no gain.
  std::vector<IdleGain> kept;
  for (IdleGain& gain : gains) {
    if (left->num <= 0) break;
    gain.prize = std::min(gain.bound, *left);
    *left = *left - *gain.prize;
    kept.push_back(gain);
  }
  return kept;
}

void FindIdle(const CompareResult& result, FindingList* out) {
  if (result.gap.basis != Basis::kWall) return;
  const std::vector<IdleGain> gains = IdleGains(result);
  for (const IdleGain& gain : gains) AddGain(result, gain, out);
  for (const Side side : {Side::kA, Side::kB})
    AddFacts(result, ViewOf(result, side), gains, out);
  for (const Side side : {Side::kA, Side::kB})
    AddRest(result, ViewOf(result, side), gains, out);
}

}  // namespace inferdiff
