// SPDX-License-Identifier: Apache-2.0
// The waterfall's lines.
#include <utility>

#include "base/number.h"
#include "compare/findings.h"

namespace inferdiff {
namespace {

using Sense = GapPart::Sense;

/// One side's rank wait may be longer than it shows, and its communication
/// shorter by as much.
Sense SenseOfWait(Side slower, bool a, bool b, bool of_wait) {
  if (a && b) return Sense::kExact;
  if (!a && !b) return Sense::kRough;
  const Side minuend = slower == Side::kA ? Side::kA : Side::kB;
  const bool of_minuend = (minuend == Side::kA) == b;
  return of_minuend == of_wait ? Sense::kLowerBound : Sense::kUpperBound;
}

}  // namespace

void SetPercents(std::vector<GapPart>* parts) {
  std::vector<Rational> deltas;
  for (const GapPart& part : *parts) deltas.push_back(part.delta);
  const std::vector<int64_t> percents = PercentIntegers(deltas, 0);
  for (size_t i = 0; i < percents.size(); ++i)
    (*parts)[i].percent = percents[i];
}

std::vector<GapPart> PartsOf(const Gap& gap,
                             const std::vector<GroupComparison>& groups,
                             const SideTotals& a, const SideTotals& b) {
  std::vector<GapPart> parts;
  const HowKnown wait = WaitDifference(a.wait_basis, b.wait_basis);
  const auto sense = [&](bool of_wait) {
    return SenseOfWait(gap.slower, IsMeasured(a.wait_basis),
                       IsMeasured(b.wait_basis), of_wait);
  };
  const auto add = [&](std::string id, std::string title, Rational delta,
                       HowKnown how = HowKnown::kMeasured,
                       Sense how_exact = Sense::kExact) {
    GapPart part;
    part.id = std::move(id);
    part.title = std::move(title);
    part.delta = delta;
    part.how = how;
    part.sense = how_exact;
    parts.push_back(std::move(part));
  };
  // Where sums are not known, what is compared is not work.
  const std::string_view what =
      gap.concurrency_known ? kWorkPrefix : kTimePrefix;
  for (const GroupComparison& group : groups) {
    // Communication holds what is not known to be waiting.
    const bool waits = group.whole.id == IdOf(Category::kCommunication);
    add("work." + group.whole.id, std::string(what) + group.whole.title,
        group.whole.work, waits ? wait : HowKnown::kMeasured,
        waits ? sense(false) : Sense::kExact);
  }
  add("work.idle_inside", "work: idle inside replays", gap.idle_inside);
  add("rank_wait", "waiting for other ranks", gap.rank_wait, wait, sense(true));
  if (gap.concurrency_known)
    add("concurrency", "concurrency", gap.concurrency, HowKnown::kBound,
        Sense::kUpperBound);
  add("foreign",
      gap.basis == Basis::kReplaySpan ? "other work during the replay"
                                      : "foreign work",
      gap.foreign);
  add("idle", IdleTitle(gap), gap.idle);
  SetPercents(&parts);
  return parts;
}

}  // namespace inferdiff
