// SPDX-License-Identifier: Apache-2.0
#include "layers/borders.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "layers/anchors.h"

namespace inferdiff {
namespace {

/// What lies behind one anchor, up to the next.
struct Region {
  uint32_t pass_end = 0;  // first op of another pass, else the region's end
  bool ends_pass = false;
  uint32_t layer_end = kNone;  // the norm that opens what follows
};

bool IsNorm(const LayerOp& op) { return op.category == Category::kNorm; }

/// Index of the first op of [from, to) for which it holds, else kNone.
template <typename Holds>
uint32_t FirstOf(std::span<const LayerOp> ops, uint32_t from, uint32_t to,
                 Holds holds) {
  for (uint32_t i = from; i < to; ++i)
    if (holds(ops[i])) return i;
  return kNone;
}

/// Where the feed-forward part behind an anchor is over: behind its last
/// activation or expert, or, without any, behind the first GEMM that follows
/// the first norm. kNone without either.
uint32_t FeedForwardEnd(std::span<const LayerOp> ops, uint32_t from,
                        uint32_t to) {
  uint32_t last = kNone;
  for (uint32_t i = from; i < to; ++i)
    if (IsFeedForward(ops[i].category)) last = i + 1;
  if (last != kNone) return last;
  const uint32_t norm = FirstOf(ops, from, to, IsNorm);
  if (norm == kNone) return kNone;
  const uint32_t gemm = FirstOf(
      ops, norm, to, [](const LayerOp& op) { return IsGemm(op.category); });
  return gemm == kNone ? kNone : gemm + 1;
}

/// The norm that opens what comes behind the feed-forward part.
uint32_t OpeningNorm(std::span<const LayerOp> ops, uint32_t from, uint32_t to) {
  const uint32_t end = FeedForwardEnd(ops, from, to);
  if (end == kNone) return kNone;
  const uint32_t first = FirstOf(ops, end, to, IsNorm);
  if (first == kNone) return kNone;
  uint32_t norm = first;
  for (uint32_t i = first; i < to && !IsGemm(ops[i].category); ++i) {
    if (ops[i].category == Category::kAttention) break;
    if (IsNorm(ops[i])) norm = i;
  }
  return norm;
}

/// How often each number was seen, by key; the most frequent, and the smallest
/// of several.
class Votes {
 public:
  void Add(uint32_t key, uint32_t value) { ++votes_[key][value]; }
  std::optional<uint32_t> Winner(uint32_t key) const {
    const auto found = votes_.find(key);
    if (found == votes_.end()) return std::nullopt;
    uint32_t winner = 0, most = 0;
    for (const auto& [value, votes] : found->second) {
      if (votes <= most) continue;
      most = votes;
      winner = value;
    }
    return winner;
  }

 private:
  std::unordered_map<uint32_t, std::map<uint32_t, uint32_t>> votes_;
};

uint32_t Median(std::vector<uint32_t>* values) {
  const auto middle =
      values->begin() + static_cast<ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

uint32_t MedianDistance(const std::vector<uint32_t>& at) {
  std::vector<uint32_t> distance;
  for (size_t k = 0; k + 1 < at.size(); ++k)
    distance.push_back(at[k + 1] - at[k]);
  return Median(&distance);
}

uint32_t LengthOf(const Layer& layer) { return layer.end - layer.begin; }

class AttentionLayers {
 public:
  AttentionLayers(std::span<const LayerOp> ops,
                  const std::vector<uint32_t>& anchors)
      : ops_(ops), anchors_(anchors) {
    norms_.reserve(ops.size() + 1);
    norms_.push_back(0);
    for (const LayerOp& op : ops)
      norms_.push_back(norms_.back() + (IsNorm(op) ? 1 : 0));
    FindRegions();
  }

  Borders Find() && {
    out_.by_norm = std::any_of(
        regions_.begin(), regions_.end(),
        [](const Region& region) { return region.layer_end != kNone; });
    if (out_.by_norm) {
      CountNorms();
      PlaceByNorm();
    } else {
      PlaceByRepetition();
    }
    return std::move(out_);
  }

 private:
  size_t size() const { return anchors_.size(); }
  uint32_t RegionEnd(size_t k) const {
    return k + 1 < size() ? anchors_[k + 1]
                          : static_cast<uint32_t>(ops_.size());
  }
  uint32_t NormsIn(uint32_t from, uint32_t to) const {
    return norms_[to] - norms_[from];
  }

  void FindRegions() {
    for (size_t k = 0; k < size(); ++k)
      regions_.push_back(RegionBehind(k, RegionEnd(k)));
    LimitLastLayers();
  }

  /// Behind the last layer of a pass may come anything, feed-forward parts
  /// too: a layer of a training step's backward pass. It is not looked for
  /// beyond twice the usual distance.
  void LimitLastLayers() {
    std::vector<uint32_t> tails;
    for (size_t k = 0; k + 1 < size(); ++k)
      if (!regions_[k].ends_pass && regions_[k].layer_end != kNone)
        tails.push_back(regions_[k].layer_end - anchors_[k]);
    if (tails.empty()) return;
    const uint32_t usual = Median(&tails);
    for (size_t k = 0; k < size(); ++k) {
      Region& region = regions_[k];
      if (!region.ends_pass && k + 1 < size()) continue;
      const uint32_t limit = anchors_[k] + 2 * usual;
      if (region.layer_end == kNone || region.layer_end <= limit) continue;
      region.layer_end = OpeningNorm(ops_, anchors_[k] + 1, limit);
    }
  }

  Region RegionBehind(size_t k, uint32_t to) const {
    const LayerOp& anchor = ops_[anchors_[k]];
    const uint32_t from = anchors_[k] + 1;
    Region region;
    region.pass_end = FirstOf(ops_, from, to, [&](const LayerOp& op) {
      return EndsPass(anchor, op);
    });
    // The next anchor may be the first op of another replay.
    region.ends_pass = region.pass_end != kNone ||
                       (to < ops_.size() && EndsPass(anchor, ops_[to]));
    region.pass_end = std::min(region.pass_end, to);
    region.layer_end = OpeningNorm(ops_, from, region.pass_end);
    if (region.layer_end != kNone || region.pass_end == to ||
        ops_[region.pass_end].category != Category::kSampling)
      return region;
    // A softmax of the gate: a head has a norm in front of it. Not beyond the
    // replay: a draft's head may have none, and what follows is the next pass.
    const uint32_t other = FirstOf(ops_, from, to, [&](const LayerOp& op) {
      return anchor.replay != kNone && op.replay != kNone &&
             op.replay != anchor.replay;
    });
    const uint32_t end = std::min(other, to);
    const uint32_t norm = OpeningNorm(ops_, from, end);
    if (norm == kNone) return region;
    return {.pass_end = end,
            .ends_pass = end < ops_.size() && ops_[end].replay != kNone &&
                         anchor.replay != kNone &&
                         ops_[end].replay != anchor.replay,
            .layer_end = norm};
  }

  /// Norms from a layer's begin to its anchor, by the anchor's name.
  void CountNorms() {
    for (size_t k = 0; k + 1 < size(); ++k) {
      const uint32_t begin = regions_[k].layer_end;
      if (begin == kNone || regions_[k].ends_pass) continue;
      const uint32_t norms = NormsIn(begin, anchors_[k + 1]);
      norms_of_name_.Add(ops_[anchors_[k + 1]].name, norms);
      norms_of_any_.Add(0, norms);
    }
  }

  /// The norm that opens a layer in front of which nothing tells. Not before
  /// `from`.
  uint32_t BeginOf(size_t k, uint32_t from) const {
    const uint32_t anchor = anchors_[k];
    std::optional<uint32_t> norms = norms_of_name_.Winner(ops_[anchor].name);
    if (!norms) norms = norms_of_any_.Winner(0);
    const uint32_t all = NormsIn(from, anchor);
    if (!norms || *norms > all) norms = all;
    if (*norms == 0) return anchor;
    // The first op by which so many norms are left.
    const uint32_t wanted = norms_[anchor] - *norms + 1;
    return static_cast<uint32_t>(
        std::lower_bound(norms_.begin(), norms_.end(), wanted) -
        norms_.begin() - 1);
  }

  bool AnyGemm(uint32_t from, uint32_t to) const {
    return FirstOf(ops_, from, to, [](const LayerOp& op) {
             return IsGemm(op.category);
           }) != kNone;
  }

  /// Ends of a pass that neither a replay nor sampling shows: a head's GEMM
  /// between two layers. Where many have one, it is no head.
  std::vector<bool> HeadsBetween() const {
    std::vector<bool> heads(size(), false);
    size_t found = 0;
    for (size_t k = 0; k + 1 < size(); ++k) {
      const uint32_t end = regions_[k].layer_end;
      if (regions_[k].ends_pass || end == kNone) continue;
      const uint32_t begin = BeginOf(k + 1, end);
      heads[k] = begin > end && AnyGemm(end, begin);
      found += heads[k] ? 1 : 0;
    }
    if (found * 4 > size()) heads.assign(size(), false);
    return heads;
  }

  void PlaceByNorm() {
    const std::vector<bool> heads = HeadsBetween();
    uint32_t pass = 0, begin = BeginOf(0, PassBegin(anchors_[0], 0));
    for (size_t k = 0; k < size(); ++k) {
      const Region& region = regions_[k];
      uint32_t end = region.layer_end;
      if (end == kNone) end = region.pass_end;
      if (region.layer_end == kNone && k > 0)
        end = std::min(end, begin + LengthOf(out_.layers.back()));
      end = std::max(end, anchors_[k] + 1);
      out_.layers.push_back({.begin = begin, .end = end, .pass = pass});
      if (k + 1 == size()) break;
      if (region.ends_pass || heads[k]) {
        ++pass;
        begin = BeginOf(k + 1, PassBegin(anchors_[k + 1], end));
      } else {
        // Without an opening norm: by the count, else at the anchor.
        begin = region.layer_end != kNone ? end : BeginOf(k + 1, anchors_[k]);
        out_.layers.back().end = begin;
      }
    }
  }

  /// Behind the sampling in front of an anchor, and within its replay; not
  /// before `from`.
  uint32_t PassBegin(uint32_t anchor, uint32_t from) const {
    uint32_t i = anchor;
    while (i > from && !EndsPass(ops_[anchor], ops_[i - 1])) --i;
    return i;
  }

  /// No norm: what the first layer has in front of its anchor and the next one
  /// of that name, too, is the layer's own.
  void PlaceByRepetition() {
    size_t twin = 1;
    while (twin < size() && ops_[anchors_[twin]].name != ops_[anchors_[0]].name)
      ++twin;
    if (twin == size()) return;
    uint32_t head = 0;
    while (head < anchors_[0] && anchors_[twin] - head > anchors_[twin - 1] &&
           ops_[anchors_[0] - head - 1].name ==
               ops_[anchors_[twin] - head - 1].name)
      ++head;
    const uint32_t length = MedianDistance(anchors_);
    uint32_t pass = 0;
    for (size_t k = 0; k < size(); ++k) {
      const uint32_t before = k == 0 ? 0 : out_.layers.back().end;
      const uint32_t begin =
          std::max(before, anchors_[k] - std::min(head, anchors_[k]));
      const bool last = k + 1 == size() || regions_[k].ends_pass;
      uint32_t end = last ? regions_[k].pass_end : anchors_[k + 1] - head;
      if (last) end = std::min(end, begin + length);
      end = std::max(end, anchors_[k] + 1);
      out_.layers.push_back({.begin = begin, .end = end, .pass = pass});
      pass += last ? 1 : 0;
    }
  }

  std::span<const LayerOp> ops_;
  const std::vector<uint32_t>& anchors_;
  std::vector<uint32_t> norms_;  // in front of an op, by its index
  std::vector<Region> regions_;  // by anchor
  Votes norms_of_name_, norms_of_any_;
  Borders out_;
};

}  // namespace

Borders AttentionBorders(std::span<const LayerOp> ops,
                         const std::vector<uint32_t>& anchors) {
  if (anchors.empty()) return {};
  return AttentionLayers(ops, anchors).Find();
}

Borders RepeatedBorders(size_t ops, const std::vector<uint32_t>& anchors) {
  Borders out;
  if (anchors.size() < 2) return out;
  const uint32_t length = MedianDistance(anchors);
  for (size_t k = 0; k < anchors.size(); ++k) {
    const uint32_t limit =
        k + 1 < anchors.size() ? anchors[k + 1] : static_cast<uint32_t>(ops);
    // A longer stretch holds other things behind its layer.
    const uint32_t end = std::min(limit, anchors[k] + length);
    const bool whole = limit <= anchors[k] + length + length / 4;
    out.layers.push_back(
        {.begin = anchors[k],
         .end = k + 1 < anchors.size() && whole ? limit : end,
         .pass = out.layers.empty()
                     ? 0
                     : out.layers.back().pass +
                           (out.layers.back().end < anchors[k] ? 1U : 0U)});
  }
  return out;
}

}  // namespace inferdiff
