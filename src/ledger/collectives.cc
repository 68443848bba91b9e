// SPDX-License-Identifier: Apache-2.0
#include "ledger/collectives.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/stat.h"
#include "ledger/check.h"
#include "ledger/ledger.h"

namespace inferdiff {
namespace {

constexpr size_t kCommunication = static_cast<size_t>(Category::kCommunication);

/// A quantile of fewer calls says nothing.
constexpr size_t kFewestCalls = 4;

/// What moves of one call. Exclusive time is dealt out as attributed time is,
/// so that calls at the same time do not move it twice.
struct Moved {
  Amounts amounts;
  int64_t sole_kernel_ns = 0, sole_family_ns = 0;  // of the exclusive time
};

/// The first `length_ns` of a segment, which is longer, in proportion. Each
/// division leaves what is left for the rest: no part gets more than is there.
CallSegment HeadOf(const CallSegment& segment, int64_t length_ns) {
  __extension__ using Wide = __int128;
  const auto part = [](int64_t amount, int64_t of, int64_t whole) {
    return whole == 0 ? 0 : static_cast<int64_t>(Wide{amount} * of / whole);
  };
  CallSegment head;
  head.sole = segment.sole;
  head.hidden_same_lane_ns =
      part(segment.hidden_same_lane_ns, length_ns, segment.length_ns());
  const int64_t shared = length_ns - head.hidden_same_lane_ns;
  head.attributed_ns =
      part(segment.attributed_ns, shared,
           segment.attributed_ns + segment.hidden_cross_lane_ns);
  head.hidden_cross_lane_ns = shared - head.attributed_ns;
  return head;
}

Moved MovedOf(const CollectiveCall& call, int64_t wait_ns,
              const Collectives& collectives) {
  Moved moved;
  // Before its step's window begins nothing is the step's.
  int64_t rest = call.start_ns + wait_ns - call.clipped_start_ns;
  for (uint32_t i = 0; i < call.segments && rest > 0; ++i) {
    CallSegment part = collectives.segments[call.first_segment + i];
    if (part.length_ns() > rest) part = HeadOf(part, rest);
    rest -= part.length_ns();
    Amounts& to = moved.amounts;
    to.sum_ns += part.length_ns();
    to.attributed_ns += part.attributed_ns;
    to.hidden_same_lane_ns += part.hidden_same_lane_ns;
    to.hidden_cross_lane_ns += part.hidden_cross_lane_ns;
    if (part.sole != Sole::kNo) to.exclusive_ns += part.attributed_ns;
    if (part.sole >= Sole::kFamily) moved.sole_family_ns += part.attributed_ns;
    if (part.sole == Sole::kKernel) moved.sole_kernel_ns += part.attributed_ns;
  }
  moved.amounts.count = moved.amounts.sum_ns > 0 ? 1 : 0;
  return moved;
}

/// Takes everything but the calls, which stay where they are.
void Take(const Amounts& moved, int64_t exclusive_ns, Amounts* from) {
  from->sum_ns -= moved.sum_ns;
  from->attributed_ns -= moved.attributed_ns;
  from->hidden_same_lane_ns -= moved.hidden_same_lane_ns;
  from->hidden_cross_lane_ns -= moved.hidden_cross_lane_ns;
  // Of a stretch in which other things ran now and then (CallStretches) it is
  // not known which of it was alone.
  from->exclusive_ns =
      std::min(from->exclusive_ns - exclusive_ns, from->attributed_ns);
}

/// Puts rows back in order, by attributed time; returns where each went.
template <typename Row>
std::vector<uint32_t> Reorder(std::vector<Row>* rows) {
  std::vector<uint32_t> order(rows->size());
  std::iota(order.begin(), order.end(), 0U);
  // Rows were in order: equal ones are by name, but for those that were equal
  // to a row that moved.
  const auto name = [](const Row& row) -> const std::string& {
    if constexpr (std::is_same_v<Row, KernelRow>)
      return row.name;
    else
      return row.family;
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Row& x = (*rows)[a];
    const Row& y = (*rows)[b];
    if (x.amounts.attributed_ns != y.amounts.attributed_ns)
      return x.amounts.attributed_ns > y.amounts.attributed_ns;
    return name(x) < name(y);
  });
  std::vector<Row> sorted;
  std::vector<uint32_t> place(rows->size());
  for (const uint32_t from : order) {
    place[from] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move((*rows)[from]));
  }
  *rows = std::move(sorted);
  return place;
}

class Mover {
 public:
  explicit Mover(LedgerResult* ledger);

  void Move(const RankWait& wait);
  void Finish();

 private:
  void MoveOfSequence(const CollectiveCall& call, const Amounts& moved);

  LedgerResult& ledger_;
  std::vector<uint32_t> family_of_;             // by kernel row
  std::map<uint32_t, size_t> amounts_of_step_;  // by step
  std::map<uint64_t, size_t> op_of_ordinal_;    // of the sequence
};

Mover::Mover(LedgerResult* ledger) : ledger_(*ledger) {
  std::map<std::pair<std::string_view, Category>, uint32_t> families;
  for (uint32_t i = 0; i < ledger_.families.size(); ++i)
    families.emplace(std::pair(std::string_view(ledger_.families[i].family),
                               ledger_.families[i].category),
                     i);
  for (const KernelRow& row : ledger_.kernels)
    family_of_.push_back(families.at({row.family, row.category}));
  for (size_t i = 0; i < ledger_.step_amounts.size(); ++i)
    amounts_of_step_.emplace(ledger_.step_amounts[i].step, i);
  for (size_t i = 0; i < ledger_.sequence.size(); ++i) {
    const SequenceOp& op = ledger_.sequence[i];
    if (ledger_.kernels[op.kernel].category == Category::kCommunication)
      op_of_ordinal_.emplace(op.ordinal, i);
  }
}

void Mover::Move(const RankWait& wait) {
  const CollectiveCall& call = ledger_.collectives.calls[wait.call];
  if (call.kernel == kNone) return;
  const Moved moved = MovedOf(call, wait.wait_ns, ledger_.collectives);
  const Amounts& amounts = moved.amounts;
  if (amounts.count == 0) return;
  KernelRow& kernel = ledger_.kernels[call.kernel];
  kernel.rank_wait_ns += amounts.sum_ns;
  Take(amounts, moved.sole_kernel_ns, &kernel.amounts);
  Take(amounts, moved.sole_family_ns,
       &ledger_.families[family_of_[call.kernel]].amounts);
  Take(amounts, amounts.exclusive_ns, &ledger_.categories[kCommunication]);
  ledger_.rank_wait.Add(amounts);
  ledger_.rank_wait.exclusive_ns += amounts.exclusive_ns;
  ledger_.step_amounts[amounts_of_step_.at(call.step)].rank_wait +=
      amounts.sum_ns;
  if (call.step == ledger_.representative_step) MoveOfSequence(call, amounts);
}

void Mover::MoveOfSequence(const CollectiveCall& call, const Amounts& moved) {
  const auto found = op_of_ordinal_.find(call.ordinal);
  if (found == op_of_ordinal_.end()) return;
  SequenceOp& op = ledger_.sequence[found->second];
  op.attributed_ns -= moved.attributed_ns;
  op.hidden_same_lane_ns -= moved.hidden_same_lane_ns;
  op.hidden_cross_lane_ns -= moved.hidden_cross_lane_ns;
  op.wait_attributed_ns += moved.attributed_ns;
  op.wait_same_lane_ns += moved.hidden_same_lane_ns;
  op.wait_cross_lane_ns += moved.hidden_cross_lane_ns;
}

void Mover::Finish() {
  std::vector<int64_t> waits;
  for (const StepAmounts& step : ledger_.step_amounts)
    waits.push_back(step.rank_wait);
  ledger_.per_step.rank_wait = SummariseInPlace(waits);
  const std::vector<uint32_t> place = Reorder(&ledger_.kernels);
  Reorder(&ledger_.families);
  for (SequenceOp& op : ledger_.sequence) op.kernel = place[op.kernel];
  for (CollectiveCall& call : ledger_.collectives.calls)
    if (call.kernel != kNone) call.kernel = place[call.kernel];
  CheckSums(ledger_);
}

}  // namespace

std::string_view IdOf(WaitBasis basis) {
  switch (basis) {
    case WaitBasis::kNoCalls:
      return "no_calls";
    case WaitBasis::kOneRank:
      return "one_rank";
    case WaitBasis::kRankSet:
      return "rank_set";
    case WaitBasis::kUnknown:
      break;
  }
  return "unknown";
}

bool IsMeasured(WaitBasis basis) {
  return basis == WaitBasis::kRankSet || basis == WaitBasis::kNoCalls;
}

void MoveRankWait(std::span<const RankWait> waits, LedgerResult* ledger) {
  Mover mover(ledger);
  for (const RankWait& wait : waits) mover.Move(wait);
  mover.Finish();
}

namespace {

/// Calls of used steps, the same call of all steps side by side.
std::vector<uint32_t> BySameCall(const std::vector<CollectiveCall>& calls) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < calls.size(); ++i)
    if (calls[i].kernel != kNone) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t i) {
      return std::tuple(calls[i].name, calls[i].lane, calls[i].position, i);
    };
    return key(a) < key(b);
  });
  return order;
}

bool SameCall(const CollectiveCall& a, const CollectiveCall& b) {
  return a.name == b.name && a.lane == b.lane && a.position == b.position;
}

/// Calls `judge` with the calls, by index, of each that enough steps have.
template <typename Judge>
void ForEachCommonCall(const Collectives& collectives, Judge judge) {
  const std::vector<CollectiveCall>& calls = collectives.calls;
  const std::vector<uint32_t> order = BySameCall(calls);
  for (size_t from = 0; from < order.size();) {
    size_t to = from + 1;
    while (to < order.size() && SameCall(calls[order[from]], calls[order[to]]))
      ++to;
    if (to - from >= kFewestCalls)
      judge(std::span(order).subspan(from, to - from));
    from = to;
  }
}

}  // namespace

std::vector<RankWait> WaitsOfOneRank(const LedgerResult& ledger) {
  const std::vector<CollectiveCall>& calls = ledger.collectives.calls;
  std::vector<RankWait> waits;
  std::vector<int64_t> durations;
  ForEachCommonCall(ledger.collectives, [&](std::span<const uint32_t> same) {
    durations.clear();
    for (const uint32_t i : same)
      durations.push_back(calls[i].end_ns - calls[i].start_ns);
    const int64_t low = Summarise(durations).p10;
    for (size_t i = 0; i < same.size(); ++i)
      if (durations[i] > low) waits.push_back({same[i], durations[i] - low});
  });
  return waits;
}

void BoundRankWait(LedgerResult* ledger) {
  if (ledger->wait_basis != WaitBasis::kUnknown) return;
  bool any = false;
  ForEachCommonCall(ledger->collectives,
                    [&](std::span<const uint32_t>) { any = true; });
  if (!any) return;
  MoveRankWait(WaitsOfOneRank(*ledger), ledger);
  ledger->wait_basis = WaitBasis::kOneRank;
}

}  // namespace inferdiff
