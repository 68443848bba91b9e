// SPDX-License-Identifier: Apache-2.0
#include "compare/alignment.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "compare/match_layer.h"
#include "compare/match_outside.h"

namespace inferdiff {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;  // kNone: the other is alone

/// The longest pass; the first of equals.
uint32_t MainPass(const Layers& layers) {
  uint32_t main = 0;
  for (uint32_t i = 1; i < layers.passes.size(); ++i)
    if (layers.passes[i].layers > layers.passes[main].layers) main = i;
  return main;
}

/// Ops of A and B that may do the same work.
struct Stretch {
  uint32_t layer_a = kNone, layer_b = kNone;
  std::vector<uint32_t> a = {}, b = {};  // as Alignment::a_ops
};

class Aligner {
 public:
  Aligner(const LedgerResult& a, const LedgerResult& b) : sides_{&a, &b} {}

  Alignment Run();

 private:
  const StepLayers& Step(size_t side) const { return sides_[side]->layers; }
  const Layers& LayersOf(size_t side) const { return Step(side).layers; }

  void PairPasses();
  void AlignOutside(uint32_t pass_a, uint32_t pass_b);
  void AlignPass(uint32_t pass_a, uint32_t pass_b);
  void AlignLayers(uint32_t a, uint32_t b);
  std::vector<uint32_t> OutsideOf(size_t side, uint32_t pass) const;
  std::span<const PlacedOp> OpsOf(size_t side, uint32_t layer) const;
  const LayerMatch& TypicalMatch(uint32_t kind_a, uint32_t kind_b);
  std::vector<uint32_t> GroupsOf(size_t side, uint32_t layer,
                                 const std::vector<uint32_t>& group_of_slot,
                                 LayerMatch* match) const;
  void Take(const Stretch& stretch, const LayerMatch& match);
  std::string_view FamilyOf(size_t side, uint32_t op) const;
  void MatchElsewhere();
  void FillRows();

  std::array<const LedgerResult*, 2> sides_;
  std::vector<Pair> passes_;  // in order
  std::map<Pair, LayerMatch> typical_;
  /// No match is surer than what the layers rest on.
  MatchConfidence most_ = MatchConfidence::kHigh;
  Alignment out_;
};

/// By number where both have as many, else the longest with the longest.
void Aligner::PairPasses() {
  const auto a = static_cast<uint32_t>(LayersOf(0).passes.size());
  const auto b = static_cast<uint32_t>(LayersOf(1).passes.size());
  if (a == b) {
    for (uint32_t i = 0; i < a; ++i) passes_.emplace_back(i, i);
    return;
  }
  const uint32_t main_a = MainPass(LayersOf(0)), main_b = MainPass(LayersOf(1));
  for (uint32_t i = 0; a > 0 && i < main_a; ++i) passes_.emplace_back(i, kNone);
  for (uint32_t i = 0; b > 0 && i < main_b; ++i) passes_.emplace_back(kNone, i);
  if (a > 0 && b > 0) passes_.emplace_back(main_a, main_b);
  for (uint32_t i = a > 0 && b > 0 ? main_a + 1 : main_a; i < a; ++i)
    passes_.emplace_back(i, kNone);
  for (uint32_t i = a > 0 && b > 0 ? main_b + 1 : main_b; i < b; ++i)
    passes_.emplace_back(kNone, i);
  out_.doubt = fmt::format(
      "A has {} and B {} runs of layers: only the longest are compared", a, b);
  most_ = MatchConfidence::kLow;
}

/// Ops in front of a pass and behind the one before it; behind the last one for
/// their number. Loose ops are at the ends.
std::vector<uint32_t> Aligner::OutsideOf(size_t side, uint32_t pass) const {
  const Layers& layers = LayersOf(side);
  const auto ops = static_cast<uint32_t>(Step(side).ops.size());
  const auto last_of = [&](uint32_t p) {
    return layers.layers[layers.passes[p].first + layers.passes[p].layers - 1];
  };
  const uint32_t begin = pass == 0 ? 0 : last_of(pass - 1).end;
  const uint32_t end = pass == layers.passes.size()
                           ? ops
                           : layers.layers[layers.passes[pass].first].begin;
  std::vector<uint32_t> outside;
  const auto add_loose = [&](bool in_front) {
    const std::vector<LooseOp>& loose = sides_[side]->loose;
    for (uint32_t i = 0; i < Step(side).loose.size(); ++i)
      if ((loose[i].start_ns < 0) == in_front) outside.push_back(ops + i);
  };
  if (pass == 0) add_loose(true);
  for (uint32_t i = begin; i < end; ++i) outside.push_back(i);
  if (pass == layers.passes.size()) add_loose(false);
  return outside;
}

std::string_view Aligner::FamilyOf(size_t side, uint32_t op) const {
  const uint32_t kernel = OpAt(Step(side), op).kernel;
  return op < Step(side).ops.size()
             ? sides_[side]->kernels[kernel].family
             : sides_[side]->loose_kernels[kernel].family;
}

void Aligner::AlignOutside(uint32_t pass_a, uint32_t pass_b) {
  Stretch stretch;
  if (pass_a != kNone) stretch.a = OutsideOf(0, pass_a);
  if (pass_b != kNone) stretch.b = OutsideOf(1, pass_b);
  std::array<std::vector<OutsideOp>, 2> ops;
  for (const size_t side : {0, 1}) {
    for (const uint32_t i : side == 0 ? stretch.a : stretch.b) {
      const PlacedOp& op = OpAt(Step(side), i);
      ops[side].push_back({&op, FamilyOf(side, i)});
    }
  }
  Take(stretch, MatchOutside(ops[0], ops[1]));
}

std::span<const PlacedOp> Aligner::OpsOf(size_t side, uint32_t layer) const {
  if (layer == kNone) return {};
  const Layer& range = LayersOf(side).layers[layer];
  return std::span(Step(side).ops)
      .subspan(range.begin, range.end - range.begin);
}

const LayerMatch& Aligner::TypicalMatch(uint32_t kind_a, uint32_t kind_b) {
  const auto [found, added] = typical_.try_emplace({kind_a, kind_b});
  if (added) {
    const auto typical = [&](size_t side, uint32_t kind) {
      return kind == kNone ? std::span<const PlacedOp>()
                           : OpsOf(side, LayersOf(side).kinds[kind].typical);
    };
    found->second = MatchLayer(typical(0, kind_a), typical(1, kind_b));
  }
  return found->second;
}

/// Slots decide; an op without one joins its role's first group, or has one of
/// its own.
std::vector<uint32_t> Aligner::GroupsOf(
    size_t side, uint32_t layer, const std::vector<uint32_t>& group_of_slot,
    LayerMatch* match) const {
  std::vector<uint32_t> groups;
  for (const PlacedOp& op : OpsOf(side, layer)) {
    if (op.slot != kNone) {
      groups.push_back(group_of_slot[op.slot]);
      continue;
    }
    const auto found = std::find_if(
        match->groups.begin(), match->groups.end(),
        [&](const auto& group) { return group.role == op.role.role; });
    groups.push_back(static_cast<uint32_t>(found - match->groups.begin()));
    if (found != match->groups.end()) {
      found->confidence = std::max(found->confidence, MatchConfidence::kMedium);
      continue;
    }
    match->groups.push_back({.role = op.role.role,
                             .confidence = MatchConfidence::kMedium,
                             .reason = MatchReason::kExtra});
  }
  return groups;
}

void Aligner::AlignLayers(uint32_t a, uint32_t b) {
  const auto kind = [&](size_t side, uint32_t layer) {
    return layer == kNone ? kNone : LayersOf(side).layers[layer].kind;
  };
  LayerMatch match = TypicalMatch(kind(0, a), kind(1, b));
  const std::vector<uint32_t> slots_a = std::move(match.a);
  const std::vector<uint32_t> slots_b = std::move(match.b);
  match.a = GroupsOf(0, a, slots_a, &match);
  match.b = GroupsOf(1, b, slots_b, &match);
  Stretch stretch{.layer_a = a, .layer_b = b};
  const auto fill = [&](size_t side, uint32_t layer,
                        std::vector<uint32_t>* ops) {
    if (layer == kNone) return;
    const Layer& range = LayersOf(side).layers[layer];
    for (uint32_t i = range.begin; i < range.end; ++i) ops->push_back(i);
  };
  fill(0, a, &stretch.a);
  fill(1, b, &stretch.b);
  Take(stretch, match);
}

void Aligner::AlignPass(uint32_t pass_a, uint32_t pass_b) {
  const LayerPass none;
  const LayerPass& a = pass_a == kNone ? none : LayersOf(0).passes[pass_a];
  const LayerPass& b = pass_b == kNone ? none : LayersOf(1).passes[pass_b];
  const MatchConfidence most = most_;
  if (a.layers != b.layers && pass_a != kNone && pass_b != kNone) {
    out_.doubt = fmt::format(
        "A has {} layers where B has {}: they are compared by number", a.layers,
        b.layers);
    most_ = MatchConfidence::kLow;
  }
  for (uint32_t i = 0; i < std::max(a.layers, b.layers); ++i)
    AlignLayers(i < a.layers ? a.first + i : kNone,
                i < b.layers ? b.first + i : kNone);
  most_ = most;
}

/// Appends the groups that have ops.
void Aligner::Take(const Stretch& stretch, const LayerMatch& match) {
  const auto members = [&](const std::vector<uint32_t>& group_of,
                           const std::vector<uint32_t>& ops) {
    std::vector<std::vector<uint32_t>> of(match.groups.size());
    for (size_t i = 0; i < ops.size(); ++i) of[group_of[i]].push_back(ops[i]);
    return of;
  };
  const auto a = members(match.a, stretch.a), b = members(match.b, stretch.b);
  const auto append = [](const std::vector<uint32_t>& ops,
                         std::vector<uint32_t>* all) {
    all->insert(all->end(), ops.begin(), ops.end());
    return static_cast<uint32_t>(all->size());
  };
  for (size_t i = 0; i < match.groups.size(); ++i) {
    if (a[i].empty() && b[i].empty()) continue;
    AlignedGroup group;
    group.layer_a = stretch.layer_a;
    group.layer_b = stretch.layer_b;
    group.role = match.groups[i].role;
    if (!a[i].empty() && !b[i].empty()) {
      group.confidence = match.groups[i].confidence;
      group.reason = match.groups[i].reason;
      // Alone in typical layers, and in these two not.
      if (group.confidence == MatchConfidence::kAlone) {
        group.confidence = MatchConfidence::kMedium;
        group.reason = MatchReason::kExtra;
      }
      group.confidence = std::max(group.confidence, most_);
    }
    group.a_begin = static_cast<uint32_t>(out_.a_ops.size());
    group.a_end = append(a[i], &out_.a_ops);
    group.b_begin = static_cast<uint32_t>(out_.b_ops.size());
    group.b_end = append(b[i], &out_.b_ops);
    out_.groups.push_back(group);
  }
}

/// What an engine does around its passes it does in an order of its own: what
/// is left alone in one place may stand in another.
void Aligner::MatchElsewhere() {
  const auto alone = [&](const AlignedGroup& group, size_t side) {
    const uint32_t ops[] = {group.a_end - group.a_begin,
                            group.b_end - group.b_begin};
    return group.layer_a == kNone && group.layer_b == kNone && ops[side] == 1 &&
           ops[1 - side] == 0;
  };
  std::map<std::pair<std::string_view, Role>, std::vector<size_t>> of_b;
  for (size_t i = out_.groups.size(); i-- > 0;) {
    const AlignedGroup& group = out_.groups[i];
    if (alone(group, 1))
      of_b[{FamilyOf(1, out_.b_ops[group.b_begin]), group.role}].push_back(i);
  }
  std::vector<bool> gone(out_.groups.size(), false);
  for (AlignedGroup& group : out_.groups) {
    if (!alone(group, 0)) continue;
    const auto found =
        of_b.find({FamilyOf(0, out_.a_ops[group.a_begin]), group.role});
    if (found == of_b.end() || found->second.empty()) continue;
    const AlignedGroup& other = out_.groups[found->second.back()];
    gone[found->second.back()] = true;
    found->second.pop_back();
    group.b_begin = other.b_begin;
    group.b_end = other.b_end;
    group.reason = MatchReason::kElsewhere;
    group.confidence = MatchConfidence::kLow;
  }
  std::vector<AlignedGroup> left;
  for (size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) left.push_back(out_.groups[i]);
  out_.groups = std::move(left);
}

void Aligner::FillRows() {
  struct Seen {
    size_t row = SIZE_MAX;
    std::array<uint32_t, 2> layer = {kNone, kNone};  // the last that has it
  };
  for (const bool in_layers : {true, false}) {
    std::array<Seen, kRoleCount> seen;
    for (const AlignedGroup& group : out_.groups) {
      if ((group.layer_a != kNone || group.layer_b != kNone) != in_layers)
        continue;
      Seen& of = seen[static_cast<size_t>(group.role)];
      if (of.row == SIZE_MAX) {
        of.row = out_.rows.size();
        out_.rows.push_back({.role = group.role, .in_layers = in_layers});
      }
      AlignedRow& row = out_.rows[of.row];
      const auto add = [&](size_t side, uint32_t layer,
                           std::span<const uint32_t> ops,
                           AlignedRow::Amounts* amounts) {
        if (ops.empty()) return;
        if (in_layers && of.layer[side] != layer) ++amounts->layers;
        of.layer[side] = layer;
        amounts->ops += static_cast<int64_t>(ops.size());
        for (const uint32_t op : ops)
          amounts->attributed_ns = CheckedAdd(
              amounts->attributed_ns, OpAt(Step(side), op).attributed_ns);
      };
      add(0, group.layer_a,
          std::span(out_.a_ops)
              .subspan(group.a_begin, group.a_end - group.a_begin),
          &row.a);
      add(1, group.layer_b,
          std::span(out_.b_ops)
              .subspan(group.b_begin, group.b_end - group.b_begin),
          &row.b);
    }
  }
}

Alignment Aligner::Run() {
  for (const size_t side : {0, 1}) {
    const LayerConfidence confidence = LayersOf(side).confidence;
    if (confidence == LayerConfidence::kMedium)
      most_ = std::max(most_, MatchConfidence::kMedium);
    if (confidence == LayerConfidence::kLow) most_ = MatchConfidence::kLow;
  }
  PairPasses();
  for (const auto& [a, b] : passes_) {
    AlignOutside(a, b);
    AlignPass(a, b);
  }
  AlignOutside(static_cast<uint32_t>(LayersOf(0).passes.size()),
               static_cast<uint32_t>(LayersOf(1).passes.size()));
  MatchElsewhere();
  FillRows();
  return std::move(out_);
}

}  // namespace

std::string_view IdOf(MatchConfidence confidence) {
  switch (confidence) {
    case MatchConfidence::kHigh:
      return "high";
    case MatchConfidence::kMedium:
      return "medium";
    case MatchConfidence::kLow:
      return "low";
    case MatchConfidence::kAlone:
      break;
  }
  return "alone";
}

std::string_view IdOf(MatchReason reason) {
  switch (reason) {
    case MatchReason::kOnlyOne:
      return "only-one";
    case MatchReason::kPlace:
      return "place";
    case MatchReason::kFused:
      return "fused";
    case MatchReason::kFamily:
      return "family";
    case MatchReason::kRole:
      return "role";
    case MatchReason::kElsewhere:
      return "elsewhere";
    case MatchReason::kExtra:
      return "extra";
    case MatchReason::kNoCounterpart:
      break;
  }
  return "no-counterpart";
}

const PlacedOp& OpAt(const StepLayers& step, uint32_t op) {
  return op < step.ops.size() ? step.ops[op] : step.loose[op - step.ops.size()];
}

Alignment AlignSteps(const LedgerResult& a, const LedgerResult& b) {
  return Aligner(a, b).Run();
}

}  // namespace inferdiff
