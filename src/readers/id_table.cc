// SPDX-License-Identifier: Apache-2.0
#include "readers/id_table.h"

#include <algorithm>
#include <numeric>

#include "model/trace.h"

namespace inferdiff {

IdTable::IdTable(const std::vector<int64_t>& ids) {
  if (ids.empty()) return;
  const auto [min, max] = std::minmax_element(ids.begin(), ids.end());
  first_ = *min;
  const uint64_t range =
      static_cast<uint64_t>(*max) - static_cast<uint64_t>(first_);
  if (range / 4 <= ids.size()) {
    places_.assign(static_cast<size_t>(range) + 1, kNone);
    for (size_t i = ids.size(); i-- > 0;)
      places_[static_cast<size_t>(ids[i] - first_)] = static_cast<uint32_t>(i);
    return;
  }
  places_.resize(ids.size());
  std::iota(places_.begin(), places_.end(), 0U);
  std::stable_sort(places_.begin(), places_.end(),
                   [&](uint32_t a, uint32_t b) { return ids[a] < ids[b]; });
  sorted_.reserve(ids.size());
  for (const uint32_t place : places_) sorted_.push_back(ids[place]);
}

uint32_t IdTable::Find(int64_t id) const {
  if (sorted_.empty()) {
    const uint64_t offset =
        static_cast<uint64_t>(id) - static_cast<uint64_t>(first_);
    return offset < places_.size() ? places_[static_cast<size_t>(offset)]
                                   : kNone;
  }
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), id);
  if (found == sorted_.end() || *found != id) return kNone;
  return places_[static_cast<size_t>(found - sorted_.begin())];
}

}  // namespace inferdiff
