// SPDX-License-Identifier: Apache-2.0
#include "base/string_pool.h"

#include <cstring>

#include "base/hash.h"

namespace inferdiff {

NameId StringPool::Intern(std::string_view text) {
  static const uint64_t key = HashKey();
  if (strings_.size() * 2 >= slots_.size()) Grow();
  const uint64_t hash = HashText(text, key);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  size_t at = static_cast<size_t>(hash) & mask;
  for (; slots_[at].id != kEmpty; at = (at + 1) & mask) {
    if (slots_[at].hash == tag && strings_[slots_[at].id] == text) {
      return slots_[at].id;
    }
  }
  slots_[at] = {tag, size()};
  strings_.push_back(Store(text));
  return slots_[at].id;
}

std::string_view StringPool::Store(std::string_view text) {
  constexpr size_t kBlock = 16 * 1024;
  if (text.empty()) return "";  // callers copy from what they get
  if (text.size() > free_bytes_) {
    const size_t bytes = text.size() > kBlock / 4 ? text.size() : kBlock;
    blocks_.push_back(std::make_unique<char[]>(bytes));
    if (bytes != kBlock) {  // a block of its own; the last one goes on
      std::memcpy(blocks_.back().get(), text.data(), text.size());
      return {blocks_.back().get(), text.size()};
    }
    free_ = blocks_.back().get();
    free_bytes_ = bytes;
  }
  char* const place = free_;
  std::memcpy(place, text.data(), text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return {place, text.size()};
}

void StringPool::Grow() {
  static const uint64_t key = HashKey();
  constexpr size_t kFirst = 64;
  std::vector<Slot> slots(slots_.empty() ? kFirst : slots_.size() * 2);
  const size_t mask = slots.size() - 1;
  for (NameId id = 0; id < size(); ++id) {
    const uint64_t hash = HashText(strings_[id], key);
    size_t at = static_cast<size_t>(hash) & mask;
    while (slots[at].id != kEmpty) at = (at + 1) & mask;
    slots[at] = {static_cast<uint32_t>(hash >> 32), id};
  }
  slots_ = std::move(slots);
}

}  // namespace inferdiff
