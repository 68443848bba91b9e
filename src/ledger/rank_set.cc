// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "base/crc32.h"
#include "ledger/check.h"
#include "ledger/rank_findings.h"

namespace inferdiff {
namespace {

/// What must be equal for steps to be put together.
using Shape =
    std::tuple<StepKind, std::optional<int64_t>, std::optional<int64_t>>;

const StepGroup* GroupOf(const LedgerResult& ledger) {
  const std::vector<StepGroup>& groups = ledger.steps.groups;
  return ledger.group < groups.size() ? &groups[ledger.group] : nullptr;
}

Shape ShapeOf(const LedgerResult& ledger) {
  const StepGroup* group = GroupOf(ledger);
  if (group == nullptr) return {};
  return {group->shape.kind, group->shape.batch, group->shape.tokens};
}

/// Servers that do not tell the profiler their rank leave 0 in every file:
/// what the trace says counts where it tells all apart, else the names.
void SettleRanks(std::vector<LedgerResult>* ranks) {
  std::set<std::optional<int64_t>> stated;
  for (const LedgerResult& rank : *ranks) stated.insert(rank.source.info.rank);
  if (stated.size() == ranks->size() && !stated.contains(std::nullopt)) return;
  for (LedgerResult& rank : *ranks)
    rank.source.info.rank = rank.source.name_rank;
}

void SortRanks(std::vector<LedgerResult>* ranks) {
  const auto key = [](const LedgerResult& ledger) {
    const TraceInfo& info = ledger.source.info;
    return std::tuple(info.rank.value_or(std::numeric_limits<int64_t>::max()),
                      std::string_view(ledger.source.label), info.device,
                      ledger.source.crc32);
  };
  std::stable_sort(ranks->begin(), ranks->end(),
                   [&](const LedgerResult& a, const LedgerResult& b) {
                     return key(a) < key(b);
                   });
}

/// The shape of most ranks; of equals that of the first rank.
Shape MainShape(const std::vector<LedgerResult>& ranks) {
  std::map<Shape, size_t> count;
  for (const LedgerResult& rank : ranks) ++count[ShapeOf(rank)];
  const LedgerResult* main = &ranks.front();
  for (const LedgerResult& rank : ranks)
    if (count[ShapeOf(rank)] > count[ShapeOf(*main)]) main = &rank;
  return ShapeOf(*main);
}

RankMatch Match(const std::vector<LedgerResult>& ranks) {
  std::vector<RankCalls> calls;
  for (const LedgerResult& rank : ranks)
    calls.push_back({&rank.collectives, rank.source.info.base_time_ns});
  return MatchRanks(calls);
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

/// All fields, exclusive time too: steps of two ranks are never at once.
void AddAll(const Amounts& from, Amounts* to) {
  to->Add(from);
  to->exclusive_ns += from.exclusive_ns;
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
  const Shape shape{group.shape.kind, group.shape.batch, group.shape.tokens};
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
    const StepShape& shape = from.groups[group].shape;
    const size_t before = nth[{shape.kind, shape.batch, shape.tokens}]++;
    group_of[group] = AddGroup(from.groups[group], before);
  };
  if (GroupOf(*rank) != nullptr) add(rank->group);
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
    number_of.push_back(kernels_.Add(key, std::move(row),
                                     [](const KernelRow& from, KernelRow* to) {
                                       AddAll(from.amounts, &to->amounts);
                                       to->rank_wait_ns += from.rank_wait_ns;
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
      to->ops += from.ops;
      to->sum_ns += from.sum_ns;
    });
  }
  if (!first_) return;
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
  for (size_t i = 0; i < joined_.histogram.size(); ++i) {
    joined_.histogram[i].count += rank.histogram[i].count;
    joined_.histogram[i].sum_ns += rank.histogram[i].sum_ns;
  }
  Coverage& coverage = joined_.coverage;
  coverage.unclassified_ns += rank.coverage.unclassified_ns;
  coverage.other_ns += rank.coverage.other_ns;
  coverage.total_ns += rank.coverage.total_ns;
  coverage.foreign_ns += rank.coverage.foreign_ns;
  coverage.outside_steps_ns += rank.coverage.outside_steps_ns;
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

/// Who arrived last, and what it made others wait, idle or at work: in steps
/// that are used, since the first step of a trace waits for ranks to enter it.
void BlameLastRanks(const RankMatch& match,
                    const std::vector<LedgerResult>& ranks,
                    std::vector<RankRow>* rows) {
  for (const MatchedCollective& one : match.collectives) {
    const auto parts =
        std::span(match.parts).subspan(one.first_part, one.parts);
    int64_t wait = 0;
    int64_t least_idle = INT64_MAX;
    int64_t own_idle = 0;
    bool used = true;
    for (const CollectivePart& part : parts) {
      const CollectiveCall& call =
          ranks[part.rank].collectives.calls[part.call];
      const int64_t idle = call.idle_before_ns;
      used &= call.kernel != kNone;
      wait = std::max(wait, part.wait_ns);
      least_idle = std::min(least_idle, idle);
      if (part.rank == one.last_rank) own_idle = idle;
    }
    if (!used) continue;
    RankRow& last = (*rows)[one.last_rank];
    ++last.last_arrivals;
    last.caused_wait_ns = CheckedAdd(last.caused_wait_ns, wait);
    last.caused_idle_ns =
        CheckedAdd(last.caused_idle_ns, std::min(own_idle - least_idle, wait));
  }
}

/// `first_step` by rank: of its steps in the joined list, or kNone.
std::vector<LongWait> LongWaitsOf(const RankMatch& match,
                                  const std::vector<LedgerResult>& ranks,
                                  const std::vector<uint32_t>& first_step) {
  constexpr size_t kMost = 20;
  std::vector<std::pair<CollectivePart, uint32_t>> all;  // and the last rank
  for (const MatchedCollective& one : match.collectives) {
    for (uint32_t i = 0; i < one.parts; ++i)
      all.emplace_back(match.parts[one.first_part + i], one.last_rank);
  }
  const auto longer = [](const auto& a, const auto& b) {
    return std::tuple(-a.first.wait_ns, a.first.rank, a.first.call) <
           std::tuple(-b.first.wait_ns, b.first.rank, b.first.call);
  };
  const size_t kept = std::min(kMost, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(kept),
                    all.end(), longer);
  std::vector<LongWait> waits;
  for (size_t i = 0; i < kept && all[i].first.wait_ns > 0; ++i) {
    const auto& [part, last] = all[i];
    const Collectives& collectives = ranks[part.rank].collectives;
    const CollectiveCall& call = collectives.calls[part.call];
    LongWait wait;
    wait.rank = part.rank;
    wait.last_rank = last;
    if (call.step != kNone && first_step[part.rank] != kNone)
      wait.step = first_step[part.rank] + call.step;
    wait.ordinal = call.ordinal;
    wait.name = collectives.names[call.name];
    wait.wait_ns = part.wait_ns;
    wait.duration_ns = call.end_ns - call.start_ns;
    waits.push_back(std::move(wait));
  }
  return waits;
}

std::string NameOf(const LedgerResult& rank) {
  return rank.source.info.rank ? fmt::format("rank {}", *rank.source.info.rank)
                               : rank.source.label;
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

LedgerResult JoinRanks(std::vector<LedgerResult> ranks,
                       const std::string& label) {
  if (ranks.size() == 1) {
    BoundRankWait(&ranks[0]);
    return std::move(ranks[0]);
  }
  SettleRanks(&ranks);
  SortRanks(&ranks);
  const Shape shape = MainShape(ranks);
  const RankMatch match = Match(ranks);
  std::vector<RankRow> rows;
  std::vector<uint32_t> first_step;
  std::vector<std::string> left_out;
  uint32_t steps = 0;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    if (match.collectives.empty()) {
      BoundRankWait(&ranks[i]);
    } else if (ranks[i].wait_basis == WaitBasis::kUnknown) {
      MoveRankWait(match.WaitsOf(i), &ranks[i]);
      ranks[i].wait_basis = WaitBasis::kRankSet;
    }
    rows.push_back(RowOf(ranks[i], match.ranks[i]));
    const bool joins = ShapeOf(ranks[i]) == shape;
    rows.back().left_out = !joins;
    first_step.push_back(joins ? steps : kNone);
    if (joins) steps += static_cast<uint32_t>(ranks[i].steps.steps.size());
    if (!joins) left_out.push_back(NameOf(ranks[i]));
  }
  BlameLastRanks(match, ranks, &rows);
  std::vector<LongWait> long_waits = LongWaitsOf(match, ranks, first_step);
  Joiner joiner;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!rows[i].left_out) joiner.Add(std::move(ranks[i]), i);
  LedgerResult joined = std::move(joiner).Finish(label);
  joined.ranks = std::move(rows);
  joined.long_waits = std::move(long_waits);
  joined.matched_collectives = match.collectives.size();
  joined.rank_findings = FindAmongRanks(joined);
  if (!left_out.empty()) joined.steps.notes.push_back(LeftOutNote(left_out));
  return joined;
}

}  // namespace inferdiff
