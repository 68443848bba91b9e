// SPDX-License-Identifier: Apache-2.0
// Waiting for other ranks, who is waited for, and collectives that nothing
// hides.
#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "compare/findings.h"
#include "compare/sentences.h"
#include "ledger/rank_sentences.h"

namespace inferdiff {
namespace {

// Waiting is worth a sentence from this share of a step on.
constexpr int64_t kNoticeablePercent = 1;
// Collectives by themselves, from this share on.
constexpr int64_t kExposedPercent = 10;

/// Where a call cannot be compared with itself.
void GuessRankWait(const SideView& side, FindingList* out) {
  const auto wait = FindWait(side.ledger);
  if (!wait) return;
  const Stat& call = wait->kernel->call_ns;
  out->Add(
      "communication-waits", side.side,
      fmt::format("{}: {} takes {} at the median and {} at most; its calls "
                  "beyond the median cost about {} a step, which looks like "
                  "waiting for other ranks, not like transfer.",
                  side.name(), Quoted(wait->kernel->family),
                  Duration({call.median, 1}), Duration({call.max, 1}),
                  Duration(wait->excess)),
      HowKnown::kEstimate);
}

void FindRankWait(const SideView& side, FindingList* out) {
  const SideTotals& totals = side.totals;
  if (totals.wait_basis == WaitBasis::kUnknown) GuessRankWait(side, out);
  const Rational wait = totals.PerStep(totals.rank_wait.attributed_ns);
  if (wait.num == 0 ||
      !AtLeastPercent(wait, side.headline(), kNoticeablePercent))
    return;
  const bool measured = IsMeasured(totals.wait_basis);
  out->Add("rank-wait", side.side,
           fmt::format("{} waits {}{} a step ({} of it) for other ranks{}.",
                       side.name(), measured ? "" : "at least ", Duration(wait),
                       Share(wait, side.headline(), 0),
                       measured ? ""
                                : ": what its collectives take beyond the 10th "
                                  "percentile of the same call in other steps"),
           measured ? HowKnown::kMeasured : HowKnown::kBound);
}

std::string AdviceFor(const Straggler& straggler) {
  const bool idle =
      straggler.caused_wait < straggler.caused_idle + straggler.caused_idle;
  if (idle) return "see what that rank's host does between the launches";
  if (straggler.category)
    return fmt::format("see why that rank has more {}, or give it less",
                       TitleOf(*straggler.category));
  return "see why that rank comes last";
}

/// What the rank of a set that is waited for most costs, a straggler or not.
Rational CostOfLatest(const LedgerResult& ledger) {
  Rational most{0, 1};
  for (const RankRow& row : ledger.ranks) {
    if (row.left_out || row.used_steps <= 0) continue;
    most = std::max(most, Rational{row.caused_wait_ns, row.used_steps});
  }
  return most;
}

/// Without it a step ends earlier by as much as the first rank waits for it: of
/// two ranks exactly, of more at most, since another one is then the last.
void SetGain(const CompareResult& result, const SideView& side,
             Finding* finding) {
  const auto gain = StragglerGain(result);
  if (side.side != result.gap.slower || !gain) return;
  if (RanksOf(side.ledger) == 2) {
    finding->prize = gain;
  } else {
    finding->bound = gain;
    finding->how = HowKnown::kBound;
  }
  const SideView other = ViewOf(result, Other(side.side));
  if (const Rational cost = CostOfLatest(other.ledger); cost.num > 0)
    finding->text += fmt::format(" {} loses {} to its own late rank.",
                                 other.name(), Duration(cost));
  finding->advice = AdviceFor(*side.ledger.rank_findings.straggler);
}

/// Who of a set waits for whom; ranks that are merely unlike are left to the
/// ledger's own page, and so is what only concerns the slowest.
void FindStraggler(const CompareResult& result, const SideView& side,
                   FindingList* out) {
  for (RankSentence& sentence : RankSentences(side.ledger, side.name())) {
    if (sentence.id != "straggler" && sentence.id != "turns") continue;
    Finding& finding =
        out->Add(sentence.id, side.side, std::move(sentence.text));
    if (sentence.id == "straggler") SetGain(result, side, &finding);
  }
}

/// A side's collectives a step, without waiting for ranks.
struct Collected {
  Rational time{0, 1}, exposed{0, 1};
};

Collected CollectedBy(const SideView& side) {
  const Amounts& all =
      side.ledger.categories[static_cast<size_t>(Category::kCommunication)];
  const int64_t steps = std::max<int64_t>(side.ledger.used_steps, 1);
  return {{all.sum_ns - all.hidden_same_lane_ns, steps},
          {all.exclusive_ns, steps}};
}

/// The kernel of a side's collectives that takes most.
std::string LargestCollective(const LedgerResult& ledger) {
  for (const FamilyRow& row : ledger.families)  // by time
    if (row.category == Category::kCommunication) return Quoted(row.family);
  return "";
}

void FindExposed(const CompareResult& result, FindingList* out) {
  const Gap& gap = result.gap;
  if (gap.slower == Side::kNeither || gap.basis != Basis::kWall) return;
  const SideView slow = ViewOf(result, gap.slower);
  const SideView fast = ViewOf(result, Other(gap.slower));
  if (slow.ledger.published || fast.ledger.published) return;
  const Collected a = CollectedBy(slow), b = CollectedBy(fast);
  if (b.time.num == 0 ||
      !AtLeastPercent(a.exposed, slow.headline(), kExposedPercent))
    return;
  // Shares that are a tenth apart: the other side hides it.
  const bool hides = AtLeastPercent(a.exposed, a.time, 50) &&
                     b.exposed < a.exposed &&
                     AtLeastPercent(b.time - b.exposed, b.time, 20);
  std::string text = fmt::format(
      "{}'s collectives take {} a step, and for {} nothing runs beside them "
      "(most of it {}).",
      slow.name(), Duration(a.time), Duration(a.exposed),
      LargestCollective(slow.ledger));
  text += hides ? fmt::format(" {} has other work beside {} of its {}.",
                              fast.name(), Duration(b.time - b.exposed),
                              Duration(b.time))
                : fmt::format(" {} does not hide its {}, either.", fast.name(),
                              Duration(b.time));
  if (!IsMeasured(slow.totals.wait_basis))
    text += " Waiting for other ranks may be part of it.";
  Finding& finding = out->Add("exposed-communication", slow.side,
                              std::move(text), HowKnown::kBound);
  finding.bound = hides ? a.exposed - b.exposed : a.exposed;
  finding.advice =
      "overlap it with the other half of the batch, or fuse it with the norm "
      "or the GEMM beside it";
}

}  // namespace

size_t RanksOf(const LedgerResult& ledger) {
  return static_cast<size_t>(std::count_if(
      ledger.ranks.begin(), ledger.ranks.end(),
      [](const RankRow& row) { return !row.left_out && row.used_steps > 0; }));
}

std::optional<Rational> StragglerGain(const CompareResult& result) {
  if (result.gap.slower == Side::kNeither) return std::nullopt;
  const auto& slow =
      ViewOf(result, result.gap.slower).ledger.rank_findings.straggler;
  if (!slow) return std::nullopt;
  const Rational gain =
      slow->caused_wait -
      CostOfLatest(ViewOf(result, Other(result.gap.slower)).ledger);
  if (gain.num <= 0 ||
      !AtLeastPercent(gain, Magnitude(result.causes.total), kNoticeablePercent))
    return std::nullopt;
  return gain;
}

bool StragglerHolds(const CompareResult& result, const GroupComparison& group) {
  if (!StragglerGain(result)) return false;
  const LedgerResult& ledger = ViewOf(result, result.gap.slower).ledger;
  const Straggler& straggler = *ledger.rank_findings.straggler;
  if (!straggler.category) return false;
  // On the mean rank it is the excess over the number of ranks.
  const Rational mean{
      straggler.excess.num,
      straggler.excess.den * static_cast<int64_t>(RanksOf(ledger))};
  const Rational delta = Oriented(result.gap, group.whole.work);
  for (const CategoryGroup& one : result.row_groups) {
    if (one.id == group.whole.id || IdOf(*straggler.category) == group.whole.id)
      if (std::count(one.members.begin(), one.members.end(),
                     *straggler.category) > 0)
        return AtLeastPercent(mean, delta, 50);
  }
  return false;
}

void FindWaits(const CompareResult& result, FindingList* out) {
  const SideView sides[] = {ViewOf(result, Side::kA), ViewOf(result, Side::kB)};
  FindExposed(result, out);
  for (const SideView& side : sides) FindRankWait(side, out);
  for (const SideView& side : sides) FindStraggler(result, side, out);
}

}  // namespace inferdiff
