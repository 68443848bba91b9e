// SPDX-License-Identifier: Apache-2.0
#include "layers/kinds.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "layers/anchors.h"

namespace inferdiff {
namespace {

// A group of equal layers is compared with so many larger ones at most.
constexpr size_t kMostCompared = 8;

/// Layers of the same kernels.
struct Group {
  std::vector<uint32_t> layers;
  uint32_t kind = kNone;
};

class KindFinder {
 public:
  KindFinder(std::span<const LayerOp> ops, Layers* layers)
      : ops_(ops),
        out_(*layers),
        count_(NamesOf(ops), 0),
        slots_(count_.size()) {}

  void Run() {
    GroupEqualLayers();
    MergeGroups();
    FillKinds();
    for (const Layer& layer : out_.layers) SortOut(layer);
    CountDifferences();
  }

 private:
  size_t OpsOf(const Group& group) const {
    const Layer& layer = out_.layers[group.layers.front()];
    return layer.end - layer.begin;
  }

  void GroupEqualLayers() {
    std::map<std::vector<uint32_t>, size_t> number;
    for (uint32_t i = 0; i < out_.layers.size(); ++i) {
      const Layer& layer = out_.layers[i];
      std::vector<uint32_t> names;
      for (uint32_t op = layer.begin; op < layer.end; ++op)
        names.push_back(ops_[op].name);
      std::sort(names.begin(), names.end());
      const auto [it, added] =
          number.try_emplace(std::move(names), groups_.size());
      if (added) groups_.emplace_back();
      groups_[it->second].layers.push_back(i);
    }
  }

  /// The larger first; of equal ones the later, since a first layer is the odd
  /// one: nothing is in front of it to be fused with.
  void MergeGroups() {
    std::sort(groups_.begin(), groups_.end(),
              [](const Group& a, const Group& b) {
                if (a.layers.size() != b.layers.size())
                  return a.layers.size() > b.layers.size();
                return a.layers.front() > b.layers.front();
              });
    uint32_t kinds = 0;
    for (size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].kind = KindNear(groups_[i]);
      if (groups_[i].kind != kNone) continue;
      groups_[i].kind = kinds++;
      kinds_.push_back(i);
    }
  }

  /// The kind that a group is a variant of: the least different one.
  uint32_t KindNear(const Group& group) {
    uint32_t nearest = kNone;
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < std::min(kinds_.size(), kMostCompared); ++k) {
      const Group& kind = groups_[kinds_[k]];
      const size_t differ = VariantDistance(group, kind);
      if (differ >= least) continue;
      least = differ;
      nearest = kind.kind;
    }
    return nearest;
  }

  /// Ops that differ; SIZE_MAX where it is another kind.
  size_t VariantDistance(const Group& group, const Group& kind) {
    const size_t longer = std::max(OpsOf(group), OpsOf(kind));
    // Lengths tell at no cost.
    if ((longer - std::min(OpsOf(group), OpsOf(kind))) * 4 > longer)
      return SIZE_MAX;
    size_t attention = 0;
    const size_t differ =
        Difference(out_.layers[group.layers.front()],
                   out_.layers[kind.layers.front()], &attention);
    // An op in the place of another counts twice.
    if (differ * 2 > longer) return SIZE_MAX;
    const bool alone = group.layers.size() == 1;
    const bool variant =
        attention == 0 ? alone || group.layers.size() * 8 <= kind.layers.size()
                       : alone && kind.layers.size() >= 8;
    return variant ? differ : SIZE_MAX;
  }

  /// Ops of either without counterpart, and those of them that are attention.
  size_t Difference(const Layer& a, const Layer& b, size_t* attention) {
    for (uint32_t i = a.begin; i < a.end; ++i) ++count_[ops_[i].name];
    for (uint32_t i = b.begin; i < b.end; ++i) --count_[ops_[i].name];
    size_t differ = 0;
    const auto take = [&](const Layer& layer) {
      for (uint32_t i = layer.begin; i < layer.end; ++i) {
        int32_t& count = count_[ops_[i].name];
        const auto left = static_cast<size_t>(std::abs(count));
        differ += left;
        if (ops_[i].category == Category::kAttention) *attention += left;
        count = 0;
      }
    };
    take(a);
    take(b);
    return differ;
  }

  /// Numbers kinds by their first layers.
  void FillKinds() {
    std::vector<uint32_t> kind_of_layer(out_.layers.size(), kNone);
    std::vector<uint32_t> typical(kinds_.size(), kNone);
    for (const Group& group : groups_)
      for (const uint32_t layer : group.layers)
        kind_of_layer[layer] = group.kind;
    for (const size_t group : kinds_)
      typical[groups_[group].kind] = groups_[group].layers.front();
    std::vector<uint32_t> number(kinds_.size(), kNone);
    for (uint32_t i = 0; i < out_.layers.size(); ++i) {
      uint32_t& kind = number[kind_of_layer[i]];
      if (kind == kNone) {
        kind = static_cast<uint32_t>(out_.kinds.size());
        out_.kinds.push_back(KindOf(typical[kind_of_layer[i]]));
      }
      out_.layers[i].kind = kind;
      ++out_.kinds[kind].layers;
    }
  }

  LayerKind KindOf(uint32_t typical) const {
    const Layer& layer = out_.layers[typical];
    return {.typical = typical, .ops = layer.end - layer.begin};
  }

  /// What both begin and end with goes slot by slot; in the middle the nth op
  /// of a name takes the nth slot left of that name; an op that is left takes
  /// the next slot that is left, of its category, between its neighbours'.
  void SortOut(const Layer& layer) {
    const Layer& typical = out_.layers[out_.kinds[layer.kind].typical];
    const uint32_t size = typical.end - typical.begin;
    const uint32_t most = std::min(size, layer.end - layer.begin);
    const auto same = [&](uint32_t a, uint32_t b) {
      return ops_[a].name == ops_[b].name;
    };
    uint32_t head = 0, tail = 0;
    while (head < most && same(layer.begin + head, typical.begin + head))
      ++head;
    while (head + tail < most &&
           same(layer.end - 1 - tail, typical.end - 1 - tail))
      ++tail;
    std::vector<bool> taken(size, false);
    const auto take = [&](uint32_t op, uint32_t slot) {
      out_.slot_of_op[op] = slot;
      taken[slot] = true;
    };
    for (uint32_t i = 0; i < head; ++i) take(layer.begin + i, i);
    for (uint32_t i = 1; i <= tail; ++i) take(layer.end - i, size - i);
    // The last slot of a name first, so that slots can be taken off the end.
    for (uint32_t slot = size - tail; slot > head; --slot)
      slots_[ops_[typical.begin + slot - 1].name].push_back(slot - 1);
    for (uint32_t op = layer.begin + head; op < layer.end - tail; ++op) {
      std::vector<uint32_t>& slots = slots_[ops_[op].name];
      if (slots.empty()) continue;
      take(op, slots.back());
      slots.pop_back();
    }
    for (uint32_t slot = head; slot < size - tail; ++slot)
      slots_[ops_[typical.begin + slot].name].clear();
    uint32_t next = 0;  // behind the slot of the op before
    for (uint32_t op = layer.begin; op < layer.end; ++op) {
      uint32_t& slot = out_.slot_of_op[op];
      if (slot == kNone && next < size && !taken[next] &&
          ops_[typical.begin + next].category == ops_[op].category) {
        take(op, next);
      }
      if (slot != kNone) next = slot + 1;
    }
  }

  /// Extra and missing ops; an op in the place of another is both.
  void CountDifferences() {
    for (Layer& layer : out_.layers) {
      const LayerKind& kind = out_.kinds[layer.kind];
      uint32_t same = 0;
      for (uint32_t op = layer.begin; op < layer.end; ++op) {
        const uint32_t slot = out_.slot_of_op[op];
        if (slot == kNone) continue;
        const uint32_t twin = out_.layers[kind.typical].begin + slot;
        same += ops_[twin].name == ops_[op].name ? 1 : 0;
      }
      layer.extra = layer.end - layer.begin - same;
      layer.missing = kind.ops - same;
    }
  }

  std::span<const LayerOp> ops_;
  Layers& out_;
  std::vector<int32_t> count_;                // by name, all 0 between uses
  std::vector<std::vector<uint32_t>> slots_;  // by name, empty between uses
  std::vector<Group> groups_;
  std::vector<size_t> kinds_;  // the group that each kind began with
};

}  // namespace

void FindKinds(std::span<const LayerOp> ops, Layers* layers) {
  KindFinder(ops, layers).Run();
}

}  // namespace inferdiff
