// SPDX-License-Identifier: Apache-2.0
#include "layers/anchors.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace inferdiff {
namespace {

// Repetition is looked for among this many ops and names; what is found then
// holds for all.
constexpr size_t kSample = 200000;
constexpr size_t kMostCandidates = 16;
constexpr size_t kLeastOps = 4;      // of a stretch that may be a layer
constexpr size_t kLeastRepeats = 3;  // two alike stretches are chance

/// What lies between one attention op and the next.
struct Between {
  bool feed_forward = false, norm = false;
  size_t gemms = 0;

  void Add(Category category) {
    feed_forward |= IsFeedForward(category);
    norm |= category == Category::kNorm;
    gemms += IsGemm(category) ? 1 : 0;
  }
  // A feed-forward part whose activation is fused into a GEMM shows none.
  bool Separates() const { return feed_forward || (norm && gemms >= 2); }
};

/// A candidate's intervals, by how much of one the next one repeats.
struct Likeness {
  size_t pairs = 0, alike = 0;
};

class Intervals {
 public:
  explicit Intervals(std::span<const LayerOp> ops)
      : ops_(ops), count_(NamesOf(ops), 0) {}

  // Neighbours are alike where four fifths of their ops are.
  Likeness Of(const std::vector<uint32_t>& at) {
    Likeness out;
    for (size_t k = 0; k + 2 < at.size() && at[k + 2] <= ops_.size(); ++k) {
      const size_t differ = Difference(at[k], at[k + 1], at[k + 2]);
      ++out.pairs;
      out.alike += differ * 5 <= at[k + 2] - at[k] ? 1 : 0;
    }
    return out;
  }

 private:
  size_t Difference(size_t a, size_t b, size_t c) {
    for (size_t i = a; i < b; ++i) ++count_[ops_[i].name];
    for (size_t i = b; i < c; ++i) --count_[ops_[i].name];
    size_t differ = 0;
    for (size_t i = a; i < c; ++i) {
      int32_t& count = count_[ops_[i].name];
      differ += static_cast<size_t>(std::abs(count));
      count = 0;
    }
    return differ;
  }

  std::span<const LayerOp> ops_;
  std::vector<int32_t> count_;  // by name, all 0 between uses
};

/// For each count that many names share, the positions of the first of them:
/// what occurs once a layer shares one count.
std::vector<std::vector<uint32_t>> Candidates(std::span<const LayerOp> ops) {
  struct Class {
    size_t names = 0;
    uint32_t first_name = 0;
  };
  std::vector<uint32_t> occurs(NamesOf(ops), 0);
  for (const LayerOp& op : ops) ++occurs[op.name];
  std::vector<bool> seen(occurs.size(), false);
  std::map<uint32_t, Class> by_count;
  for (const LayerOp& op : ops) {
    if (seen[op.name] || occurs[op.name] < kLeastRepeats) continue;
    seen[op.name] = true;
    const auto [it, added] = by_count.try_emplace(occurs[op.name]);
    if (added) it->second.first_name = op.name;
    ++it->second.names;
  }
  std::vector<Class> order;
  for (const auto& [count, c] : by_count) order.push_back(c);
  std::stable_sort(
      order.begin(), order.end(),
      [](const Class& a, const Class& b) { return a.names > b.names; });
  if (order.size() > kMostCandidates) order.resize(kMostCandidates);
  std::vector<uint32_t> candidate(occurs.size(), kNone);
  for (size_t i = 0; i < order.size(); ++i)
    candidate[order[i].first_name] = static_cast<uint32_t>(i);
  std::vector<std::vector<uint32_t>> out(order.size());
  for (uint32_t i = 0; i < ops.size(); ++i)
    if (candidate[ops[i].name] != kNone)
      out[candidate[ops[i].name]].push_back(i);
  return out;
}

}  // namespace

bool EndsPass(const LayerOp& before, const LayerOp& op) {
  return op.category == Category::kSampling ||
         (before.replay != kNone && op.replay != kNone &&
          before.replay != op.replay);
}

size_t NamesOf(std::span<const LayerOp> ops) {
  size_t names = 0;
  for (const LayerOp& op : ops) names = std::max(names, size_t{op.name} + 1);
  return names;
}

std::vector<uint32_t> AttentionAnchors(std::span<const LayerOp> ops) {
  std::vector<uint32_t> count(NamesOf(ops), 0);
  for (const LayerOp& op : ops)
    if (op.category == Category::kAttention) ++count[op.name];
  std::vector<uint32_t> anchors;
  Between between;
  uint32_t last = kNone;   // the attention op before
  bool projected = false;  // a GEMM has run since the pass began
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const Category category = ops[i].category;
    between.Add(category);
    projected |= IsGemm(category);
    if (i > 0 && EndsPass(ops[i - 1], ops[i])) projected = IsGemm(category);
    if (last != kNone && EndsPass(ops[last], ops[i])) last = kNone;
    // In front of a pass attention's metadata is prepared.
    if (category != Category::kAttention || !projected) continue;
    if (last == kNone || between.Separates()) {
      anchors.push_back(i);
    } else if (count[ops[i].name] > count[ops[anchors.back()].name]) {
      anchors.back() = i;
    }
    last = i;
    between = {};
  }
  return anchors;
}

std::vector<uint32_t> RepeatedAnchors(std::span<const LayerOp> ops) {
  Intervals intervals(ops.first(std::min(ops.size(), kSample)));
  std::vector<uint32_t> best;
  for (std::vector<uint32_t>& at : Candidates(ops)) {
    if (at.size() < kLeastRepeats || at.size() <= best.size()) continue;
    const size_t covered = at.back() - at.front();
    if (covered < (at.size() - 1) * kLeastOps || covered * 2 < ops.size())
      continue;
    const Likeness likeness = intervals.Of(at);
    if (likeness.pairs == 0 || likeness.alike * 4 < likeness.pairs * 3)
      continue;
    best = std::move(at);
  }
  return best;
}

}  // namespace inferdiff
