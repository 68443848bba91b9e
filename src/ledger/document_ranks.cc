// SPDX-License-Identifier: Apache-2.0
#include "ledger/document_ranks.h"

#include <nlohmann/json.hpp>

#include "ledger/rank_findings.h"

namespace inferdiff {
namespace {

constexpr size_t kMostRanks = 65536;
// Sums over ranks stay within 63 bits.
constexpr int64_t kMost = int64_t{1} << 46;

int64_t Bounded(const DocumentJson& row, const char* name) {
  const int64_t value = Amount(row, name);
  if (value > kMost) FailDocument("a rank's figure is absurd");
  return value;
}

RankRow RowOf(const DocumentJson& row) {
  RankRow rank;
  rank.label = Text(row, "label");
  rank.rank = OptionalInt(row, "rank");
  rank.device = Int(row, "device");
  rank.left_out = Bool(row, "left_out");
  rank.used_steps = Bounded(row, "used_steps");
  rank.wall_ns = Bounded(row, "wall_ns");
  rank.walls = Bounded(row, "walls");
  rank.sum_ns = Bounded(row, "sum_ns");
  rank.busy_ns = Bounded(row, "busy_ns");
  rank.idle_ns = Bounded(row, "idle_ns");
  rank.idle_host_late_ns = Bounded(row, "idle_host_late_ns");
  rank.rank_wait_ns = Bounded(row, "rank_wait_ns");
  const DocumentJson& sums = Field(row, "category_sum_ns");
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const std::string id(IdOf(static_cast<Category>(i)));
    if (sums.is_object() && sums.contains(id))
      rank.category_sum_ns[i] = Bounded(sums, id.c_str());
  }
  rank.last_arrivals = static_cast<uint64_t>(Bounded(row, "last_arrivals"));
  rank.caused_wait_ns = Bounded(row, "caused_wait_ns");
  rank.caused_idle_ns = Bounded(row, "caused_idle_ns");
  return rank;
}

/// How many of the set's steps each rank has, used or not. Those of a rank that
/// is left out are none of the set's.
std::vector<int64_t> StepsOfRanks(const DocumentJson& document,
                                  const std::vector<RankRow>& ranks) {
  std::vector<int64_t> steps;
  for (const RankRow& rank : ranks)
    steps.push_back(rank.left_out ? 0 : rank.used_steps);
  for (const DocumentJson& row : List(Field(document, "steps"), "excluded")) {
    const int64_t rank = Amount(row, "rank");
    if (rank >= static_cast<int64_t>(ranks.size()))
      FailDocument("a step is of a rank that is not there");
    ++steps[static_cast<size_t>(rank)];
  }
  return steps;
}

}  // namespace

void ReadRanks(const DocumentJson& document, LedgerResult* ledger) {
  if (!document.contains("rank_set")) return;
  const DocumentJson& set = Field(document, "rank_set");
  const DocumentJson& rows = List(set, "ranks");
  ledger->matched_collectives =
      static_cast<uint64_t>(Bounded(set, "matched_collectives"));
  if (rows.size() > kMostRanks) FailDocument("there are more than 65536 ranks");
  for (const DocumentJson& row : rows) ledger->ranks.push_back(RowOf(row));
  // The steps of a set stand rank by rank.
  const std::vector<int64_t> counts = StepsOfRanks(document, ledger->ranks);
  size_t next = 0;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > static_cast<int64_t>(ledger->steps.steps.size() - next))
      FailDocument("the ranks have more steps than the set");
    for (int64_t i = 0; i < counts[rank]; ++i)
      ledger->steps.steps[next++].rank = static_cast<uint32_t>(rank);
  }
  if (next != ledger->steps.steps.size())
    FailDocument("the set has steps of no rank");
  ledger->rank_findings = FindAmongRanks(*ledger);
}

}  // namespace inferdiff
