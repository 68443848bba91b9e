// SPDX-License-Identifier: Apache-2.0
#include "compare/role_excess.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "compare/sentences.h"

namespace inferdiff {
namespace {

// Kernels are worth a line from this share of the gap on.
constexpr int64_t kWorthNamingPercent = 2;
// A kernel that takes less than this much longer is not far slower.
constexpr int64_t kFarSlowerPercent = 20;
// ... and one that takes less than this longer is as good as the same.
constexpr int64_t kSlowerPercent = 10;
constexpr size_t kMostDetails = 6;
constexpr size_t kMostFamilies = 2;
constexpr size_t kWidestFamily = 44;

/// One side's ops of a group, as they are added up.
class Adder {
 public:
  explicit Adder(const LedgerResult& ledger) : ledger_(ledger) {}

  struct Row {
    RoleExcess::Amounts amounts;
    std::map<std::string_view, RoleExcess::Amounts::Family> families;
    std::array<int64_t, kCategoryCount> categories{};
    uint32_t last_layer = kNone;
  };

  void Add(const std::vector<uint32_t>& ops, uint32_t begin, uint32_t end,
           uint32_t layer, Row* row) const {
    if (row->amounts.layers == 0 || layer != row->last_layer)
      ++row->amounts.layers;
    row->last_layer = layer;
    for (uint32_t i = begin; i < end; ++i) {
      if (ops[i] >= ledger_.layers.ops.size()) continue;  // of no step
      const PlacedOp& op = ledger_.layers.ops[ops[i]];
      const SequenceOp& timed = ledger_.sequence[op.position];
      const KernelRow& kernel = ledger_.kernels[op.kernel];
      const int64_t work = op.attributed_ns + timed.hidden_cross_lane_ns;
      ++row->amounts.ops;
      row->amounts.work_ns += work;
      row->amounts.hidden_ns += timed.hidden_cross_lane_ns;
      RoleExcess::Amounts::Family& family = row->families[kernel.family];
      family.name = kernel.family;
      ++family.ops;
      family.work_ns += work;
      row->categories[static_cast<size_t>(kernel.category)] += work;
    }
  }

  static RoleExcess::Amounts Done(const Row& row) {
    RoleExcess::Amounts amounts = row.amounts;
    for (const auto& [name, family] : row.families)
      amounts.families.push_back(family);
    std::stable_sort(
        amounts.families.begin(), amounts.families.end(),
        [](const auto& x, const auto& y) { return y.work_ns < x.work_ns; });
    return amounts;
  }

 private:
  const LedgerResult& ledger_;
};

/// Is a tenth of it or more hidden by other lanes? Then it takes longer for
/// them.
bool IsStretched(const RoleExcess::Amounts& side) {
  return AtLeastPercent({side.hidden_ns, 1}, {side.work_ns, 1}, 10) &&
         side.hidden_ns > 0;
}

/// "17.2 us in 8 kernels on A (2 `x`, `y` ...)".
std::string SideText(const RoleExcess& excess, const RoleExcess::Amounts& side,
                     std::string_view name) {
  const int64_t layers =
      excess.in_layers ? std::max<int64_t>(side.layers, 1) : 1;
  std::string families;
  for (size_t i = 0; i < side.families.size() && i < kMostFamilies; ++i) {
    const RoleExcess::Amounts::Family& family = side.families[i];
    const Rational ops{family.ops, layers};
    families +=
        fmt::format("{}{}{}", i == 0 ? "" : ", ",
                    Rational{1, 1} < ops ? CountText(ops) + " " : std::string(),
                    Quoted(ElideMiddle(family.name, kWidestFamily)));
  }
  if (side.families.size() > kMostFamilies) families += " ...";
  const Rational ops{side.ops, layers};
  return fmt::format("{} in {} kernel{} on {} ({})",
                     Duration({side.work_ns, layers}), CountText(ops),
                     ops == Rational{1, 1} ? "" : "s", name, families);
}

bool TakesLonger(const RoleExcess& excess, int64_t percent) {
  return AtLeastPercent({excess.excess_ns(), 1}, {excess.fast.work_ns, 1},
                        percent);
}

bool IsWorthNaming(const CompareResult& result, const RoleExcess& excess) {
  return AtLeastPercent({excess.excess_ns(), 1}, Magnitude(result.causes.total),
                        kWorthNamingPercent);
}

const GroupComparison* GroupOf(const CompareResult& result, Category category) {
  for (const CategoryGroup& one : result.row_groups) {
    if (std::count(one.members.begin(), one.members.end(), category) == 0)
      continue;
    for (const GroupComparison& group : result.causes.groups)
      if (group.whole.id == one.id || group.whole.id == IdOf(category))
        return &group;
  }
  return nullptr;
}

void AddDetail(const CompareResult& result, const RoleExcess& excess,
               Finding* finding) {
  // One kernel's excess may be made up for by others of its group. The prize
  // is that of all steps, the excess that of two median ones.
  if (finding->details.size() == kMostDetails ||
      !TakesLonger(excess, kSlowerPercent) ||
      !AtLeastPercent(*finding->prize, {excess.excess_ns(), 1}, 90))
    return;
  finding->details.push_back(
      {TextOf(excess, result.gap.slower), {excess.excess_ns(), 1}});
}

}  // namespace

std::vector<RoleExcess> FindRoleExcess(const CompareResult& result) {
  const Alignment& alignment = result.alignment;
  const Side slower = result.gap.slower;
  // A serial ledger's kernels are other ones.
  if (slower == Side::kNeither || !alignment.doubt.empty() || result.serial_a ||
      result.serial_b)
    return {};
  const Adder a(result.a), b(result.b);
  std::map<std::pair<Role, bool>, std::pair<Adder::Row, Adder::Row>> rows;
  for (const AlignedGroup& group : alignment.groups) {
    if (group.confidence == MatchConfidence::kLow ||
        group.confidence == MatchConfidence::kAlone ||
        group.role == Role::kOther)
      continue;
    auto& [row_a, row_b] = rows[{group.role, group.layer_a != kNone}];
    a.Add(alignment.a_ops, group.a_begin, group.a_end, group.layer_a, &row_a);
    b.Add(alignment.b_ops, group.b_begin, group.b_end, group.layer_b, &row_b);
  }
  const bool waits_known =
      WaitDifference(result.a_totals.wait_basis, result.b_totals.wait_basis) ==
      HowKnown::kMeasured;
  std::vector<RoleExcess> found;
  for (const auto& [key, sides] : rows) {
    const Adder::Row& slow = slower == Side::kA ? sides.first : sides.second;
    const Adder::Row& fast = slower == Side::kA ? sides.second : sides.first;
    RoleExcess excess;
    std::tie(excess.role, excess.in_layers) = key;
    excess.slow = Adder::Done(slow);
    excess.fast = Adder::Done(fast);
    const auto most =
        std::max_element(slow.categories.begin(), slow.categories.end());
    excess.category = static_cast<Category>(most - slow.categories.begin());
    if (excess.slow.ops == 0 || excess.fast.ops == 0 ||
        excess.excess_ns() <= 0 || IsStretched(excess.slow) ||
        IsStretched(excess.fast) ||
        (excess.category == Category::kCommunication && !waits_known))
      continue;
    found.push_back(std::move(excess));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RoleExcess& x, const RoleExcess& y) {
                     return y.excess_ns() < x.excess_ns();
                   });
  return found;
}

std::string TextOf(const RoleExcess& excess, Side slower) {
  const std::string where =
      excess.in_layers ? fmt::format("{} of {}, a layer", IdOf(excess.role),
                                     Plural(excess.slow.layers, "layer"))
                       : fmt::format("{}, outside layers", IdOf(excess.role));
  return fmt::format("{}: {}, {}", where,
                     SideText(excess, excess.slow, NameOf(slower)),
                     SideText(excess, excess.fast, NameOf(Other(slower))));
}

void AddChains(const CompareResult& result,
               const std::vector<RoleExcess>& excesses, Finding* fusion) {
  for (const RoleExcess& excess : excesses) {
    const GroupComparison* group = GroupOf(result, excess.category);
    if (excess.is_chain() && group != nullptr && IsFused(result, *group) &&
        IsWorthNaming(result, excess))
      AddDetail(result, excess, fusion);
  }
}

void AddKernels(const CompareResult& result,
                const std::vector<RoleExcess>& excesses,
                const GroupComparison& group, Finding* contributor) {
  for (const RoleExcess& excess : excesses) {
    const GroupComparison* of = GroupOf(result, excess.category);
    if (of != nullptr && of->whole.id == group.whole.id &&
        IsWorthNaming(result, excess))
      AddDetail(result, excess, contributor);
  }
}

void FindSlowKernels(const CompareResult& result,
                     const std::vector<RoleExcess>& excesses,
                     FindingList* out) {
  // One's durations hold what a dispatch costs, the other's do not.
  const bool vendors_meet =
      result.a.source.info.vendor != result.b.source.info.vendor;
  for (const RoleExcess& excess : excesses) {
    const GroupComparison* group = GroupOf(result, excess.category);
    if (group == nullptr || IsFused(result, *group) ||
        out->HasPrize("contributor.work." + group->whole.id) ||
        StragglerHolds(result, *group) ||
        !AtLeastPercent(Oriented(result.gap, group->whole.work),
                        {excess.excess_ns(), 1}, 50) ||
        !TakesLonger(excess, kFarSlowerPercent) ||
        !IsWorthNaming(result, excess))
      continue;
    Finding& finding =
        out->Add(fmt::format("slow-kernel.{}{}", IdOf(excess.role),
                             excess.in_layers ? "" : ".outside"),
                 fmt::format("{} takes {} longer for the same work: {}.",
                             NameOf(result.gap.slower),
                             Duration({excess.excess_ns(), 1}),
                             TextOf(excess, result.gap.slower)),
                 vendors_meet ? HowKnown::kEstimate : HowKnown::kMeasured);
    finding.prize = Rational{excess.excess_ns(), 1};
    finding.advice = excess.is_chain()
                         ? "run the chain as one kernel, as the other side does"
                         : "see why the kernel takes longer than the other "
                           "side's";
  }
}

}  // namespace inferdiff
