// SPDX-License-Identifier: Apache-2.0
#include "ledger/sharer_set.h"

#include <algorithm>

namespace inferdiff {

void SharerSet::Add(uint32_t position) {
  dealt_[position] -= each_;
  if (!in_tree_ && count_ == kFew) ToTree();
  if (in_tree_) {
    AddToTree(position);
    ++count_;
    return;
  }
  uint32_t place = count_++;
  for (; place > 0 && few_[place - 1] > position; --place)
    few_[place] = few_[place - 1];
  few_[place] = position;
}

void SharerSet::Remove(uint32_t position) {
  dealt_[position] += each_;
  if (in_tree_) {
    dealt_[position] += TreeShare(position);
    ChangeTreeCount(position, 0U - 1U);
    in_tree_ = --count_ > 0;
    return;
  }
  const auto end = few_.begin() + count_--;
  const auto found = std::find(few_.begin(), end, position);
  std::copy(found + 1, end, found);
}

void SharerSet::Deal(int64_t dt) {
  if (count_ == 1) {
    each_ += dt;
    return;
  }
  each_ += dt / count_;
  const auto rest = static_cast<uint32_t>(dt % count_);
  if (in_tree_) {
    if (rest > 0) GiveOneToFirst(rest);
    return;
  }
  for (uint32_t i = 0; i < rest; ++i) ++dealt_[few_[i]];
}

int64_t SharerSet::Dealt(uint32_t position) const {
  return dealt_[position] + each_ + (in_tree_ ? TreeShare(position) : 0);
}

void SharerSet::ToTree() {
  tree_.resize(dealt_.size() + 1);
  in_tree_ = true;
  for (const uint32_t position : few_) AddToTree(position);
}

void SharerSet::AddToTree(uint32_t position) {
  dealt_[position] -= TreeShare(position);
  ChangeTreeCount(position, 1);
}

uint32_t SharerSet::TreeShare(uint32_t position) const {
  // A gift that ended at or behind the position has reached it.
  uint32_t ended_before = 0;
  for (uint32_t i = position; i > 0; i &= i - 1) ended_before += tree_[i].gifts;
  return gifts_ - ended_before;
}

void SharerSet::ChangeTreeCount(uint32_t position, uint32_t change) {
  for (size_t i = position + 1; i < tree_.size(); i += i & (0 - i))
    tree_[i].members += change;
}

void SharerSet::GiveOneToFirst(uint32_t members) {
  // Descend to the last node in front of the last member to get one.
  size_t node = 0;
  size_t step = 1;
  while (step * 2 < tree_.size()) step *= 2;
  for (; step > 0; step /= 2) {
    if (node + step >= tree_.size()) continue;
    if (tree_[node + step].members >= members) continue;
    node += step;
    members -= tree_[node].members;
  }
  ++gifts_;
  for (size_t i = node + 1; i < tree_.size(); i += i & (0 - i))
    ++tree_[i].gifts;
}

}  // namespace inferdiff
