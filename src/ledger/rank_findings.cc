// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_findings.h"

#include <algorithm>

namespace inferdiff {
namespace {

/// Ranks whose steps are in the sums.
std::vector<uint32_t> Joined(const LedgerResult& ledger) {
  std::vector<uint32_t> joined;
  for (uint32_t i = 0; i < ledger.ranks.size(); ++i)
    if (!ledger.ranks[i].left_out && ledger.ranks[i].used_steps > 0)
      joined.push_back(i);
  return joined;
}

Rational PerStepOf(const RankRow& row, int64_t total) {
  return {total, std::max<int64_t>(row.used_steps, 1)};
}

Rational WallOf(const RankRow& row) {
  return {row.wall_ns, std::max<int64_t>(row.walls, 1)};
}

/// The mean of the others' time a step in a category: steps of all ranks
/// weigh alike.
Rational MeanOfOthers(const LedgerResult& ledger,
                      const std::vector<uint32_t>& joined, uint32_t rank,
                      size_t category) {
  int64_t total = 0;
  int64_t steps = 0;
  for (const uint32_t other : joined) {
    if (other == rank) continue;
    total += ledger.ranks[other].category_sum_ns[category];
    steps += ledger.ranks[other].used_steps;
  }
  return {total, std::max<int64_t>(steps, 1)};
}

Rational Fraction(Rational whole, int64_t parts) {
  return {whole.num, whole.den * parts};
}

Straggler Describe(const LedgerResult& ledger,
                   const std::vector<uint32_t>& joined, uint32_t rank) {
  const RankRow& row = ledger.ranks[rank];
  Straggler found;
  found.rank = rank;
  found.last_arrivals = row.last_arrivals;
  for (const RankRow& other : ledger.ranks)
    found.collectives += other.last_arrivals;
  found.caused_wait = PerStepOf(row, row.caused_wait_ns);
  found.caused_idle = PerStepOf(row, row.caused_idle_ns);
  for (size_t i = 0; i < kCategoryCount; ++i) {
    if (static_cast<Category>(i) == Category::kCommunication) continue;
    const Rational excess = PerStepOf(row, row.category_sum_ns[i]) -
                            MeanOfOthers(ledger, joined, rank, i);
    if (!(found.excess < excess)) continue;
    found.excess = excess;
    found.category = static_cast<Category>(i);
  }
  return found;
}

void FindStraggler(const LedgerResult& ledger,
                   const std::vector<uint32_t>& joined, RankFindings* out) {
  int64_t caused = 0;
  int64_t wall = 0;
  for (const uint32_t rank : joined) {
    caused += ledger.ranks[rank].caused_wait_ns;
    wall += ledger.ranks[rank].wall_ns;
  }
  // All ranks' walls are one: the share of one step's.
  const auto ranks = static_cast<int64_t>(joined.size());
  if (ranks < 2 || Rational{caused, 1} < Rational{wall, 100 * ranks}) return;
  const uint32_t worst = *std::max_element(
      joined.begin(), joined.end(), [&](uint32_t a, uint32_t b) {
        return ledger.ranks[a].caused_wait_ns < ledger.ranks[b].caused_wait_ns;
      });
  if (Rational{ledger.ranks[worst].caused_wait_ns, 1} < Rational{caused, 2}) {
    out->in_turns = true;
    return;
  }
  out->straggler = Describe(ledger, joined, worst);
}

void FindImbalances(const LedgerResult& ledger,
                    const std::vector<uint32_t>& joined, RankFindings* out) {
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto time = [&](uint32_t rank) {
      return PerStepOf(ledger.ranks[rank],
                       ledger.ranks[rank].category_sum_ns[i]);
    };
    const auto [least, most] = std::minmax_element(
        joined.begin(), joined.end(),
        [&](uint32_t a, uint32_t b) { return time(a) < time(b); });
    Imbalance found;
    found.category = static_cast<Category>(i);
    found.least = *least;
    found.most = *most;
    found.least_ns = time(*least);
    found.most_ns = time(*most);
    const Rational apart = found.most_ns - found.least_ns;
    const Rational wall = WallOf(ledger.ranks[*most]);
    if (apart.num == 0 || apart < Fraction(found.most_ns, 10) ||
        apart < Fraction(wall, 50)) {
      continue;
    }
    out->imbalances.push_back(found);
  }
  std::stable_sort(out->imbalances.begin(), out->imbalances.end(),
                   [](const Imbalance& a, const Imbalance& b) {
                     return b.most_ns - b.least_ns < a.most_ns - a.least_ns;
                   });
}

}  // namespace

RankFindings FindAmongRanks(const LedgerResult& ledger) {
  RankFindings found;
  const std::vector<uint32_t> joined = Joined(ledger);
  if (joined.size() < 2) return found;
  FindStraggler(ledger, joined, &found);
  FindImbalances(ledger, joined, &found);
  const auto [fastest, slowest] = std::minmax_element(
      joined.begin(), joined.end(), [&](uint32_t a, uint32_t b) {
        return WallOf(ledger.ranks[a]) < WallOf(ledger.ranks[b]);
      });
  const Rational most = WallOf(ledger.ranks[*slowest]);
  const Rational apart = most - WallOf(ledger.ranks[*fastest]);
  if (apart.num > 0 && !(apart < Fraction(most, 100))) {
    found.slowest = *slowest;
    found.fastest = *fastest;
  }
  return found;
}

}  // namespace inferdiff
