// SPDX-License-Identifier: Apache-2.0
#include "readers/launch_index.h"

#include <algorithm>

#include "base/sort.h"
#include "model/trace.h"

namespace inferdiff {

void LaunchIndex::Reserve(size_t count) {
  keys_.reserve(count);
  values_.reserve(count);
}

void LaunchIndex::Add(int64_t key, uint32_t value) {
  keys_.push_back(key);
  values_.push_back(value);
}

size_t LaunchIndex::Finish() {
  SortByKey(&keys_, &values_);
  size_t kept = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (kept > 0 && keys_[kept - 1] == keys_[i]) {
      if (repeated_.empty() || repeated_.back() != keys_[i])
        repeated_.push_back(keys_[i]);
      continue;
    }
    keys_[kept] = keys_[i];
    values_[kept++] = values_[i];
  }
  const size_t dropped = keys_.size() - kept;
  keys_.resize(kept);
  values_.resize(kept);
  return dropped;
}

int64_t LaunchIndex::CountRepeated(const std::vector<int64_t>& keys) const {
  if (repeated_.empty()) return 0;
  return std::count_if(keys.begin(), keys.end(),
                       [this](int64_t key) { return FindRepeated(key); });
}

bool LaunchIndex::FindRepeated(int64_t key) const {
  return std::binary_search(repeated_.begin(), repeated_.end(), key);
}

/// The first key that is not less, looked for in steps that double from `near`
/// on, to either side, and then by halves.
size_t LaunchIndex::LowerBound(int64_t key, size_t near) const {
  const size_t size = keys_.size();
  size_t low = std::min(near, size);
  size_t high = low;
  size_t step = 1;
  while (high < size && keys_[high] < key) {
    low = high + 1;
    high += std::min(step, size - high);
    step *= 2;
  }
  while (low > 0 && keys_[low - 1] >= key) {
    high = low - 1;
    low -= std::min(step, low);
    step *= 2;
  }
  const auto begin = keys_.begin();
  return static_cast<size_t>(
      std::lower_bound(begin + static_cast<ptrdiff_t>(low),
                       begin + static_cast<ptrdiff_t>(high), key) -
      begin);
}

uint32_t LaunchIndex::Find(int64_t key, size_t* near) const {
  *near = LowerBound(key, *near);
  return *near < keys_.size() && keys_[*near] == key ? values_[*near] : kNone;
}

}  // namespace inferdiff
