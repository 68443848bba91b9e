// SPDX-License-Identifier: Apache-2.0
// The ops that share an instant equally, one a lane, and what each has got.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace inferdiff {

/// Deals time out to the ops present, in O(log n) a call for any number of
/// them: dt ns among m ops gives floor(dt / m) to each and one more to the
/// first dt mod m in the order of their positions.
///
/// The equal part is a running total that every op subtracts when it comes and
/// adds when it goes. The odd nanoseconds go to the ops by hand while few are
/// present, which is always so in real traces; a crowd moves into a Fenwick
/// tree that can add one to its first r members at once.
class SharerSet {
 public:
  /// `dealt` has one entry a position; it is complete for an op once the op
  /// has been removed. A set starts empty.
  explicit SharerSet(std::span<int64_t> dealt = {}) : dealt_(dealt) {}

  void Add(uint32_t position);
  void Remove(uint32_t position);
  void Deal(int64_t dt);
  /// What an op that is present has got so far.
  int64_t Dealt(uint32_t position) const;
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }

 private:
  static constexpr uint32_t kFew = 16;

  void ToTree();
  void AddToTree(uint32_t position);
  /// Odd nanoseconds that the tree has given to this position since the start.
  uint32_t TreeShare(uint32_t position) const;
  void ChangeTreeCount(uint32_t position, uint32_t change);
  void GiveOneToFirst(uint32_t members);

  /// Fenwick node: members below it, and gifts that ended below it. Unsigned
  /// arithmetic wraps; only differences are used.
  struct Node {
    uint32_t members = 0;
    uint32_t gifts = 0;
  };

  std::span<int64_t> dealt_;
  int64_t each_ = 0;  // what an op present from the start would have
  uint32_t count_ = 0;
  bool in_tree_ = false;
  std::array<uint32_t, kFew> few_{};  // sorted positions, unless in_tree_
  std::vector<Node> tree_;            // from 1, one node a position
  uint32_t gifts_ = 0;                // all gifts so far
};

}  // namespace inferdiff
