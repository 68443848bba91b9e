// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "base/crc32.h"
#include "ledger/check.h"
#include "ledger/matched_calls.h"
#include "ledger/rank_findings.h"
#include "ledger/step_layers.h"

namespace inferdiff {
namespace {

/// What must be equal for steps to be put together.
using Shape =
    std::tuple<StepKind, std::optional<int64_t>, std::optional<int64_t>>;

Shape ShapeOf(const StepShape& shape) {
  return {shape.kind, shape.batch, shape.tokens};
}

/// A rank that waits to be joined.
struct Rank {
  const PackedRank* packed = nullptr;
  std::optional<int64_t> rank;

  const Provenance& source() const { return packed->source; }
  Shape shape() const { return ShapeOf(packed->shape); }
};

/// Servers that do not tell the profiler their rank leave 0 in every file:
/// what the trace says counts where it tells all apart, else the names.
std::vector<Rank> SettleRanks(const std::vector<PackedRank>& packed) {
  std::vector<Rank> ranks;
  std::set<std::optional<int64_t>> stated;
  for (const PackedRank& rank : packed) {
    ranks.push_back({&rank, rank.source.info.rank});
    stated.insert(rank.source.info.rank);
  }
  if (stated.size() == ranks.size() && !stated.contains(std::nullopt))
    return ranks;
  for (Rank& rank : ranks) rank.rank = rank.source().name_rank;
  return ranks;
}

void SortRanks(std::vector<Rank>* ranks) {
  const auto key = [](const Rank& rank) {
    const Provenance& source = rank.source();
    return std::tuple(rank.rank.value_or(std::numeric_limits<int64_t>::max()),
                      std::string_view(source.label), source.info.device,
                      source.crc32);
  };
  std::stable_sort(
      ranks->begin(), ranks->end(),
      [&](const Rank& a, const Rank& b) { return key(a) < key(b); });
}

/// The shape of most ranks; of equals that of the first rank.
Shape MainShape(const std::vector<Rank>& ranks) {
  std::map<Shape, size_t> count;
  for (const Rank& rank : ranks) ++count[rank.shape()];
  const Rank* main = &ranks.front();
  for (const Rank& rank : ranks)
    if (count[rank.shape()] > count[main->shape()]) main = &rank;
  return main->shape();
}

RankMatch Match(const std::vector<Rank>& ranks) {
  std::vector<RankCalls> calls;
  for (const Rank& rank : ranks) {
    calls.push_back(CallsByChannel(UnpackCalls(*rank.packed),
                                   rank.source().info.base_time_ns));
  }
  return MatchRanks(std::move(calls));
}

/// Rows of several ranks, by what they are named.
template <typename Key, typename Row>
class Folder {
 public:
  /// `fold(row, into)`; returns the row's number, in order of first use.
  template <typename Fold>
  uint32_t Add(const Key& key, Row&& row, Fold fold) {
    const auto [it, added] =
        number_.emplace(key, static_cast<uint32_t>(rows_.size()));
    if (added) {
      rows_.push_back(std::move(row));
    } else {
      fold(row, &rows_[it->second]);
    }
    return it->second;
  }

  /// By attributed time, then key. `place`: where each number went.
  std::vector<Row> Sorted(std::vector<uint32_t>* place) && {
    std::vector<uint32_t> order;
    for (const auto& [key, number] : number_) order.push_back(number);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return Weight(rows_[a]) > Weight(rows_[b]);
    });
    std::vector<Row> sorted;
    place->resize(rows_.size());
    for (const uint32_t number : order) {
      (*place)[number] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(std::move(rows_[number]));
    }
    return sorted;
  }

 private:
  static int64_t Weight(const RuleHits& row) { return row.sum_ns; }
  template <typename Other>
  static int64_t Weight(const Other& row) {
    return row.amounts.attributed_ns;
  }

  std::map<Key, uint32_t> number_;
  std::vector<Row> rows_;
};

void AddTo(int64_t amount, int64_t* total) {
  *total = CheckedAdd(*total, amount);
}

/// All fields, exclusive time too: steps of two ranks are never at once.
void AddAll(const Amounts& from, Amounts* to) {
  to->Add(from);
  AddTo(from.exclusive_ns, &to->exclusive_ns);
}

/// Sums of ranks whose work has one shape.
class Joiner {
 public:
  /// `number`: index in LedgerResult::ranks.
  void Add(LedgerResult rank, size_t number);
  LedgerResult Finish(const std::string& label) &&;

 private:
  void AddProvenance(const Provenance& source);
  void AddSteps(LedgerResult* rank, size_t number);
  uint32_t AddGroup(const StepGroup& group, size_t nth);
  void AddTables(LedgerResult* rank);

  LedgerResult joined_;
  bool first_ = true;
  std::map<std::tuple<Shape, size_t>, uint32_t> groups_;
  Folder<std::tuple<std::string, Category, std::string>, KernelRow> kernels_;
  Folder<std::tuple<std::string, Category>, FamilyRow> families_;
  Folder<std::tuple<std::string, Category>, RuleHits> hits_;
};

void Joiner::AddProvenance(const Provenance& source) {
  Provenance& to = joined_.source;
  if (first_) {
    to = source;
    to.size_bytes = 0;
    to.crc32 = 0;
    to.counters = {};
    to.info.graph_launches = 0;
    to.info.rank.reset();
  }
  to.crc32 = CombineCrc32(to.crc32, source.crc32, source.size_bytes);
  to.size_bytes += source.size_bytes;
  to.counters.Merge(source.counters);
  to.info.truncated |= source.info.truncated;
  to.info.graph_launches += source.info.graph_launches;
  if (to.format != source.format) to.format = "several formats";
  if (to.info.gpu_name != source.info.gpu_name)
    to.info.gpu_name = "several GPUs";
}

/// `nth` of its rank's groups of that shape; 0 is the one accounted.
uint32_t Joiner::AddGroup(const StepGroup& group, size_t nth) {
  const Shape shape = ShapeOf(group.shape);
  std::vector<StepGroup>& groups = joined_.steps.groups;
  const auto [it, added] = groups_.emplace(
      std::tuple(shape, nth), static_cast<uint32_t>(groups.size()));
  if (added) {
    groups.push_back(group);
    return it->second;
  }
  StepGroup& to = groups[it->second];
  to.steps += group.steps;
  to.used += group.used;
  if (to.shape.context != group.shape.context) to.shape.context.reset();
  if (group.context_min)
    to.context_min = std::min(to.context_min.value_or(*group.context_min),
                              *group.context_min);
  if (group.context_max)
    to.context_max = std::max(to.context_max.value_or(*group.context_max),
                              *group.context_max);
  return it->second;
}

void Joiner::AddSteps(LedgerResult* rank, size_t number) {
  Steps& from = rank->steps;
  Steps& to = joined_.steps;
  if (first_) {
    to.evidence = from.evidence;
    to.how = from.how;
    to.cross_check = from.cross_check;
    to.cross_check_agrees = from.cross_check_agrees;
  }
  to.evidence = std::max(to.evidence, from.evidence);  // the weakest
  if (to.cross_check_agrees && !from.cross_check_agrees) {
    to.cross_check = from.cross_check;
    to.cross_check_agrees = false;
  }
  for (std::string& note : from.notes) {
    if (std::find(to.notes.begin(), to.notes.end(), note) == to.notes.end())
      to.notes.push_back(std::move(note));
  }
  // The accounted group comes first, so that it has number 0 for all ranks.
  std::vector<uint32_t> group_of(from.groups.size());
  std::map<Shape, size_t> nth;
  const auto add = [&](uint32_t group) {
    const size_t before = nth[ShapeOf(from.groups[group].shape)]++;
    group_of[group] = AddGroup(from.groups[group], before);
  };
  if (rank->group < from.groups.size()) add(rank->group);
  for (uint32_t group = 0; group < from.groups.size(); ++group)
    if (group != rank->group) add(group);

  const auto offset = static_cast<uint32_t>(to.steps.size());
  if (first_) joined_.representative_step = rank->representative_step;
  for (Step& step : from.steps) {
    step.rank = static_cast<uint32_t>(number);
    if (step.group < group_of.size()) step.group = group_of[step.group];
    to.steps.push_back(std::move(step));
  }
  for (StepAmounts& amounts : rank->step_amounts) {
    amounts.step += offset;
    joined_.step_amounts.push_back(amounts);
  }
}

void Joiner::AddTables(LedgerResult* rank) {
  std::vector<uint32_t> number_of;
  for (KernelRow& row : rank->kernels) {
    std::tuple key(row.name, row.category, row.rule);
    number_of.push_back(kernels_.Add(
        key, std::move(row), [](const KernelRow& from, KernelRow* to) {
          AddAll(from.amounts, &to->amounts);
          AddTo(from.rank_wait_ns, &to->rank_wait_ns);
          to->calls.Merge(from.calls);
        }));
  }
  for (FamilyRow& row : rank->families) {
    std::tuple key(row.family, row.category);
    families_.Add(key, std::move(row),
                  [](const FamilyRow& from, FamilyRow* to) {
                    AddAll(from.amounts, &to->amounts);
                  });
  }
  for (RuleHits& row : rank->rule_hits) {
    std::tuple key(row.rule, row.category);
    hits_.Add(key, std::move(row), [](const RuleHits& from, RuleHits* to) {
      to->names = std::max(to->names, from.names);
      AddTo(from.ops, &to->ops);
      AddTo(from.sum_ns, &to->sum_ns);
    });
  }
  if (!first_) return;
  joined_.loose = std::move(rank->loose);
  joined_.loose_kernels = std::move(rank->loose_kernels);
  joined_.sequence = std::move(rank->sequence);
  for (SequenceOp& op : joined_.sequence) op.kernel = number_of[op.kernel];
}

void Joiner::Add(LedgerResult rank, size_t number) {
  AddProvenance(rank.source);
  AddSteps(&rank, number);
  AddTables(&rank);
  if (first_) joined_.wait_basis = rank.wait_basis;
  joined_.wait_basis = std::min(joined_.wait_basis, rank.wait_basis);
  joined_.devices.insert(joined_.devices.end(), rank.devices.begin(),
                         rank.devices.end());
  joined_.used_steps += rank.used_steps;
  for (size_t i = 0; i < kCategoryCount; ++i)
    AddAll(rank.categories[i], &joined_.categories[i]);
  AddAll(rank.rank_wait, &joined_.rank_wait);
  joined_.cycles.Add(rank.cycles);
  for (size_t i = 0; i < joined_.histogram.size(); ++i) {
    AddTo(rank.histogram[i].count, &joined_.histogram[i].count);
    AddTo(rank.histogram[i].sum_ns, &joined_.histogram[i].sum_ns);
  }
  Coverage& coverage = joined_.coverage;
  AddTo(rank.coverage.unclassified_ns, &coverage.unclassified_ns);
  AddTo(rank.coverage.other_ns, &coverage.other_ns);
  AddTo(rank.coverage.total_ns, &coverage.total_ns);
  AddTo(rank.coverage.foreign_ns, &coverage.foreign_ns);
  AddTo(rank.coverage.outside_steps_ns, &coverage.outside_steps_ns);
  coverage.dropped_records += rank.coverage.dropped_records;
  for (CaptureCheck& check : rank.capture_checks)
    check.ranks = {static_cast<uint32_t>(number)};
  MergeChecks(rank.capture_checks, &joined_.capture_checks);
  joined_.launch_leads.Merge(rank.launch_leads);
  first_ = false;
}

/// Distinct kernels of each family.
void CountKernels(LedgerResult* joined) {
  std::map<std::pair<std::string_view, Category>, uint32_t> kernels;
  for (const KernelRow& row : joined->kernels)
    ++kernels[{row.family, row.category}];
  for (FamilyRow& row : joined->families)
    row.kernels = kernels[{row.family, row.category}];
}

LedgerResult Joiner::Finish(const std::string& label) && {
  std::vector<uint32_t> place, unused;
  joined_.kernels = std::move(kernels_).Sorted(&place);
  joined_.families = std::move(families_).Sorted(&unused);
  joined_.rule_hits = std::move(hits_).Sorted(&unused);
  CountKernels(&joined_);
  for (KernelRow& row : joined_.kernels) {
    row.call_ns = row.calls.Summary();
    row.calls = {};
  }
  for (SequenceOp& op : joined_.sequence) op.kernel = place[op.kernel];
  joined_.per_step = SummaryOf(joined_.step_amounts);
  joined_.per_step.launch_lead = joined_.launch_leads.Summary();
  joined_.launch_leads = {};
  joined_.source.label = label;
  CheckSums(joined_);
  return std::move(joined_);
}

void MoveWaits(const RankMatch& match, uint32_t rank, LedgerResult* ledger) {
  if (match.collectives.empty()) {
    BoundRankWait(ledger);
  } else if (ledger->wait_basis == WaitBasis::kUnknown) {
    MoveRankWait(match.WaitsOf(rank), ledger);
    ledger->wait_basis = WaitBasis::kRankSet;
  }
}

/// Of a rank whose rank wait has been moved.
RankRow RowOf(const LedgerResult& rank, const RankAlignment& alignment) {
  RankRow row;
  row.label = rank.source.label;
  row.rank = rank.source.info.rank;
  row.device = rank.source.info.device;
  row.used_steps = rank.used_steps;
  row.wall_ns = rank.per_step.wall.total;
  row.walls = rank.per_step.wall.n;
  row.sum_ns = rank.per_step.sum.total;
  row.busy_ns = rank.per_step.busy.total;
  row.idle_ns = rank.per_step.idle.total;
  row.idle_host_late_ns = rank.per_step.idle_host_late.total;
  row.rank_wait_ns = rank.rank_wait.sum_ns;
  for (size_t i = 0; i < kCategoryCount; ++i)
    row.category_sum_ns[i] = rank.categories[i].sum_ns;
  row.alignment = alignment;
  return row;
}

std::string NameOf(const Rank& rank) {
  return rank.rank ? fmt::format("rank {}", *rank.rank) : rank.source().label;
}

/// Why a rank seems to have done other work may be that its capture lies. What
/// is in no sum refuses none.
void KeepChecks(std::vector<CaptureCheck> checks, uint32_t rank,
                std::vector<CaptureCheck>* kept) {
  for (CaptureCheck& check : checks) {
    check.ranks = {rank};
    check.weight = std::min(check.weight, Weight::kReservation);
  }
  MergeChecks(checks, kept);
}

std::string LeftOutNote(const std::vector<std::string>& names) {
  std::string list;
  constexpr size_t kNamed = 6;
  for (size_t i = 0; i < names.size() && i < kNamed; ++i)
    list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamed)
    list += fmt::format(" and {} more", names.size() - kNamed);
  return fmt::format(
      "{} did other work than most ranks and {} left out of the sums", list,
      names.size() == 1 ? "is" : "are");
}

}  // namespace

LedgerResult JoinRanks(const std::vector<PackedRank>& packed,
                       const std::string& label) {
  if (packed.size() == 1) {
    LedgerResult alone = Unpack(packed[0]);
    BoundRankWait(&alone);
    FillLayers(&alone);
    return alone;
  }
  std::vector<Rank> ranks = SettleRanks(packed);
  SortRanks(&ranks);
  const Shape shape = MainShape(ranks);
  const RankMatch match = Match(ranks);
  MatchedCalls matched(match);
  Joiner joiner;
  std::vector<RankRow> rows;
  std::vector<std::string> left_out;
  std::vector<CaptureCheck> checks_left_out;
  uint32_t steps = 0;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    LedgerResult ledger = Unpack(*ranks[i].packed);
    ledger.source.info.rank = ranks[i].rank;
    const bool joins = ranks[i].shape() == shape;
    matched.Note(i, ledger, joins ? steps : kNone);
    MoveWaits(match, i, &ledger);
    rows.push_back(RowOf(ledger, match.ranks[i]));
    rows.back().left_out = !joins;
    if (!joins) {
      left_out.push_back(NameOf(ranks[i]));
      KeepChecks(std::move(ledger.capture_checks), i, &checks_left_out);
      continue;
    }
    steps += static_cast<uint32_t>(ledger.steps.steps.size());
    joiner.Add(std::move(ledger), i);
  }
  matched.BlameLastRanks(&rows);
  LedgerResult joined = std::move(joiner).Finish(label);
  FillLayers(&joined);
  MergeChecks(checks_left_out, &joined.capture_checks);
  joined.ranks = std::move(rows);
  joined.long_waits = std::move(matched).long_waits();
  joined.matched_collectives = match.collectives.size();
  joined.rank_findings = FindAmongRanks(joined);
  if (!left_out.empty()) joined.steps.notes.push_back(LeftOutNote(left_out));
  return joined;
}

}  // namespace inferdiff
