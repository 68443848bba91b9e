// SPDX-License-Identifier: Apache-2.0
#include "compare/match_layer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <unordered_map>

#include "compare/match_in_order.h"

namespace inferdiff {
namespace {

constexpr RoleSet Roles(std::initializer_list<Role> roles) {
  RoleSet set = 0;
  for (const Role role : roles) set |= SetOf(role);
  return set;
}

/// Work that a layer has several times.
constexpr RoleSet kRepeated =
    Roles({Role::kAllReduce, Role::kResidualAdd, Role::kQuantize, Role::kMhc,
           Role::kMemsetCopy, Role::kOther});
/// Of those, what says too little to take neighbours for one piece of work.
constexpr RoleSet kUnspecific = Roles({Role::kMemsetCopy, Role::kOther});

constexpr RoleSet kNorms = Roles({Role::kInputNorm, Role::kPostAttentionNorm});

/// What other kernels are known to do, too.
struct Fusion {
  RoleSet work;
  RoleSet hosts;
};
constexpr Fusion kFusions[] = {
    {Roles({Role::kExpertActivation}),
     Roles({Role::kExpertGemm1, Role::kExpertGemm2})},
    {Roles({Role::kActivation}), Roles({Role::kGateUpProj, Role::kDownProj})},
    {Roles({Role::kFinalize}), Roles({Role::kExpertGemm2, Role::kCombine})},
    {Roles({Role::kResidualAdd}), kNorms | Roles({Role::kAllReduce})},
    {kNorms, Roles({Role::kAllReduce})},
    {Roles({Role::kQuantize}),
     kNorms | Roles({Role::kQkNorm, Role::kActivation, Role::kExpertActivation,
                     Role::kExpertGemm1})},
    {Roles({Role::kQkNorm}), Roles({Role::kRope, Role::kKvWrite})},
    {Roles({Role::kRope}),
     Roles({Role::kQkNorm, Role::kKvWrite, Role::kAttention})},
    {Roles({Role::kKvWrite}), Roles({Role::kRope, Role::kAttention})},
    {Roles({Role::kQAProj, Role::kKvAProj}), Roles({Role::kQAKvAProj})},
};

/// A reduction of attention's splits is a part of attention: whether there is
/// one is up to the kernel.
Role WorkOf(const PlacedOp& op) {
  return op.role.role == Role::kAttentionCombine ? Role::kAttention
                                                 : op.role.role;
}

/// Ops of one piece of work.
struct Piece {
  Role role = Role::kOther;
  MatchConfidence confidence = MatchConfidence::kAlone;
  MatchReason reason = MatchReason::kNoCounterpart;
  std::array<std::vector<uint32_t>, 2> ops = {};  // of A, of B

  bool IsShared() const { return !ops[0].empty() && !ops[1].empty(); }
};

/// The work in front of an op and behind it that both sides have once, as ranks
/// in the order of A and in that of B; -1 and their number at the ends.
struct Surroundings {
  std::array<int64_t, 4> ranks{};

  int64_t DistanceTo(const Surroundings& other) const {
    int64_t distance = 0;
    for (size_t i = 0; i < ranks.size(); ++i)
      distance += std::abs(ranks[i] - other.ranks[i]);
    return distance;
  }
};

class LayerMatcher {
 public:
  LayerMatcher(std::span<const PlacedOp> a, std::span<const PlacedOp> b)
      : sides_{a, b} {}

  LayerMatch Run();

 private:
  void MatchOnce();
  void RankAnchors();
  std::vector<uint32_t> OfRole(size_t side, Role role) const;
  std::vector<Piece> PiecesOf(size_t side, Role role) const;
  Surroundings Around(size_t side, uint32_t op) const;
  void MatchRepeated(Role role);
  void JoinFused();
  size_t HostOf(size_t piece, size_t side) const;
  void Join(std::vector<size_t>* root, size_t piece, size_t host);
  LayerMatch Numbered() const;

  std::array<std::span<const PlacedOp>, 2> sides_;
  std::vector<Piece> pieces_;
  struct Anchor {
    uint32_t op = 0;
    std::array<int64_t, 2> rank{};  // in the order of A, of B
  };
  std::array<std::vector<Anchor>, 2> anchors_;  // by op
};

std::vector<uint32_t> LayerMatcher::OfRole(size_t side, Role role) const {
  std::vector<uint32_t> ops;
  for (uint32_t i = 0; i < sides_[side].size(); ++i)
    if (WorkOf(sides_[side][i]) == role) ops.push_back(i);
  return ops;
}

void LayerMatcher::MatchOnce() {
  for (size_t r = 0; r < kRoleCount; ++r) {
    const Role role = static_cast<Role>(r);
    if ((kRepeated & SetOf(role)) != 0) continue;
    Piece piece{.role = role, .ops = {OfRole(0, role), OfRole(1, role)}};
    if (piece.ops[0].empty() && piece.ops[1].empty()) continue;
    if (piece.IsShared()) {
      piece.reason = MatchReason::kOnlyOne;
      piece.confidence = piece.ops[0].size() == piece.ops[1].size()
                             ? MatchConfidence::kHigh
                             : MatchConfidence::kMedium;
    }
    pieces_.push_back(std::move(piece));
  }
}

void LayerMatcher::RankAnchors() {
  std::vector<size_t> shared;
  for (size_t i = 0; i < pieces_.size(); ++i)
    if (pieces_[i].IsShared()) shared.push_back(i);
  std::vector<std::array<int64_t, 2>> rank(pieces_.size());
  for (const size_t side : {0, 1}) {
    const auto first = [&](size_t piece) {
      return pieces_[piece].ops[side].front();
    };
    std::sort(shared.begin(), shared.end(),
              [&](size_t x, size_t y) { return first(x) < first(y); });
    for (size_t i = 0; i < shared.size(); ++i)
      rank[shared[i]][side] = static_cast<int64_t>(i);
    for (const size_t piece : shared) anchors_[side].push_back({first(piece)});
  }
  for (const size_t side : {0, 1}) {
    std::sort(shared.begin(), shared.end(), [&](size_t x, size_t y) {
      return rank[x][side] < rank[y][side];
    });
    for (size_t i = 0; i < shared.size(); ++i)
      anchors_[side][i].rank = rank[shared[i]];
  }
}

Surroundings LayerMatcher::Around(size_t side, uint32_t op) const {
  const std::vector<Anchor>& anchors = anchors_[side];
  const auto behind = std::partition_point(
      anchors.begin(), anchors.end(),
      [&](const Anchor& anchor) { return anchor.op < op; });
  Surroundings around;
  const auto end = static_cast<int64_t>(anchors.size());
  around.ranks = {-1, -1, end, end};
  if (behind != anchors.begin())
    std::copy_n((behind - 1)->rank.begin(), 2, around.ranks.begin());
  if (behind != anchors.end())
    std::copy_n(behind->rank.begin(), 2, around.ranks.begin() + 2);
  return around;
}

/// Ops of the role that follow each other on their lane are one piece.
std::vector<Piece> LayerMatcher::PiecesOf(size_t side, Role role) const {
  std::vector<Piece> pieces;
  std::unordered_map<uint32_t, size_t> open;  // by lane
  for (uint32_t i = 0; i < sides_[side].size(); ++i) {
    const PlacedOp& op = sides_[side][i];
    if (WorkOf(op) != role) {
      open.erase(op.lane);
      continue;
    }
    const auto found = open.find(op.lane);
    if (found != open.end() && (kUnspecific & SetOf(role)) == 0) {
      pieces[found->second].ops[side].push_back(i);
      continue;
    }
    open[op.lane] = pieces.size();
    Piece piece{.role = role};
    piece.ops[side].push_back(i);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

void LayerMatcher::MatchRepeated(Role role) {
  std::array<std::vector<Piece>, 2> pieces = {PiecesOf(0, role),
                                              PiecesOf(1, role)};
  std::array<std::vector<Surroundings>, 2> around;
  for (const size_t side : {0, 1})
    for (const Piece& piece : pieces[side])
      around[side].push_back(Around(side, piece.ops[side].front()));
  // Both stay alone where they are two pieces of other work apart in the order
  // of both sides, in front and behind.
  constexpr int64_t kTooFar = 8;
  const auto partner =
      MatchInOrder(pieces[0].size(), pieces[1].size(), [&](size_t i, size_t j) {
        return kTooFar - around[0][i].DistanceTo(around[1][j]);
      });
  std::vector<bool> taken(pieces[1].size(), false);
  for (size_t i = 0; i < pieces[0].size(); ++i) {
    Piece& piece = pieces[0][i];
    if (partner[i]) {
      const uint32_t j = *partner[i];
      taken[j] = true;
      piece.ops[1] = std::move(pieces[1][j].ops[1]);
      piece.reason = MatchReason::kPlace;
      piece.confidence = around[0][i].DistanceTo(around[1][j]) == 0
                             ? MatchConfidence::kHigh
                             : MatchConfidence::kMedium;
    }
    pieces_.push_back(std::move(piece));
  }
  for (size_t j = 0; j < pieces[1].size(); ++j)
    if (!taken[j]) pieces_.push_back(std::move(pieces[1][j]));
}

/// The piece with ops of the other side that does this work, too: of those that
/// are known to, one without a counterpart, else the nearest in front, else the
/// nearest behind. Itself where there is none.
size_t LayerMatcher::HostOf(size_t piece, size_t side) const {
  const RoleSet role = SetOf(pieces_[piece].role);
  const uint32_t at = pieces_[piece].ops[side].front();
  size_t host = piece;
  int64_t nearest = INT64_MAX;
  for (const Fusion& fusion : kFusions) {
    if ((fusion.work & role) == 0) continue;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& other = pieces_[i];
      if ((fusion.hosts & SetOf(other.role)) == 0) continue;
      if (other.ops[1 - side].empty()) continue;
      // Only the other side has it, and it lacks a counterpart as this does.
      if (other.ops[side].empty()) return i;
      constexpr int64_t kBehind = int64_t{1} << 32;
      int64_t distance = INT64_MAX;
      for (const uint32_t op : other.ops[side])
        distance = std::min(distance, op < at ? at - op : kBehind + (op - at));
      if (distance >= nearest) continue;
      nearest = distance;
      host = i;
    }
  }
  return host;
}

/// `root` leads from each piece to the one that it is a part of.
void LayerMatcher::Join(std::vector<size_t>* root, size_t piece, size_t host) {
  const auto find = [&](size_t i) {
    while ((*root)[i] != i) i = (*root)[i];
    return i;
  };
  size_t from = find(piece), to = find(host);
  if (from == to) return;
  // Two that lack a side each are named after the one that comes first.
  if (!pieces_[to].IsShared() && from < to) std::swap(from, to);
  (*root)[from] = to;
  for (const size_t side : {0, 1}) {
    std::vector<uint32_t>& ops = pieces_[to].ops[side];
    ops.insert(ops.end(), pieces_[from].ops[side].begin(),
               pieces_[from].ops[side].end());
    std::sort(ops.begin(), ops.end());
    pieces_[from].ops[side].clear();
  }
  pieces_[to].reason = MatchReason::kFused;
  pieces_[to].confidence = MatchConfidence::kMedium;
}

void LayerMatcher::JoinFused() {
  std::array<RoleSet, 2> has{};
  for (const Piece& piece : pieces_)
    for (const size_t side : {0, 1})
      if (!piece.ops[side].empty()) has[side] |= SetOf(piece.role);
  std::vector<std::pair<size_t, size_t>> joins;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].IsShared()) continue;
    const size_t side = pieces_[i].ops[0].empty() ? 1 : 0;
    // A side that has such kernels elsewhere does not fuse that work.
    if ((has[1 - side] & SetOf(pieces_[i].role)) != 0) continue;
    if (const size_t host = HostOf(i, side); host != i)
      joins.emplace_back(i, host);
  }
  std::vector<size_t> root(pieces_.size());
  std::iota(root.begin(), root.end(), 0);
  for (const auto& [piece, host] : joins) Join(&root, piece, host);
  std::erase_if(pieces_, [](const Piece& piece) {
    return piece.ops[0].empty() && piece.ops[1].empty();
  });
}

LayerMatch LayerMatcher::Numbered() const {
  std::vector<size_t> order(pieces_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](size_t i) {
    const Piece& piece = pieces_[i];
    return piece.ops[0].empty() ? sides_[0].size() + piece.ops[1].front()
                                : size_t{piece.ops[0].front()};
  };
  std::sort(order.begin(), order.end(),
            [&](size_t x, size_t y) { return place(x) < place(y); });
  LayerMatch out;
  out.a.resize(sides_[0].size());
  out.b.resize(sides_[1].size());
  for (const size_t i : order) {
    const Piece& piece = pieces_[i];
    const auto group = static_cast<uint32_t>(out.groups.size());
    out.groups.push_back({piece.role, piece.confidence, piece.reason});
    for (const uint32_t op : piece.ops[0]) out.a[op] = group;
    for (const uint32_t op : piece.ops[1]) out.b[op] = group;
  }
  return out;
}

LayerMatch LayerMatcher::Run() {
  MatchOnce();
  RankAnchors();
  for (size_t r = 0; r < kRoleCount; ++r)
    if ((kRepeated & SetOf(static_cast<Role>(r))) != 0)
      MatchRepeated(static_cast<Role>(r));
  JoinFused();
  return Numbered();
}

}  // namespace

LayerMatch MatchLayer(std::span<const PlacedOp> a,
                      std::span<const PlacedOp> b) {
  return LayerMatcher(a, b).Run();
}

}  // namespace inferdiff
