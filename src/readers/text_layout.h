// SPDX-License-Identifier: Apache-2.0
// The text around the values of a record, learned from one and compared with
// the next: writers print all records of a kind from one template.
//
//   {"size":184,"kind":1,"operation":2,"thread_id":908, ...
//   \------/   \------/ \----------/ \----------/
//               before each value
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace inferdiff {

/// Text that must stand at a place.
class Literal {
 public:
  static constexpr size_t kMost = 64;
  bool Set(std::string_view text) {
    if (text.size() > kMost) return false;
    size_ = text.size();
    std::memcpy(text_.data(), text.data(), size_);
    last_mask_ = 0;  // of the bytes that make no full word
    std::memset(&last_mask_, 0xff, size_ % 8);
    return true;
  }
  size_t size() const { return size_; }
  char front() const { return text_[0]; }
  /// 72 bytes must be readable at `at`.
  bool Matches(const char* at) const {
    size_t i = 0;
    for (; i + 8 <= size_; i += 8) {
      if (Difference(at, i) != 0) return false;
    }
    return (Difference(at, i) & last_mask_) == 0;
  }

 private:
  uint64_t Difference(const char* at, size_t i) const {
    uint64_t there = 0;
    uint64_t here = 0;
    std::memcpy(&there, at + i, 8);
    std::memcpy(&here, text_.data() + i, 8);
    return there ^ here;
  }

  std::array<char, kMost + 8> text_{};
  size_t size_ = 0;
  uint64_t last_mask_ = 0;
};

/// What stands in front of the values of a record, and behind the last one.
template <typename Field>
struct ValuesLayout {
  struct Value {
    Literal before;  // from the begin or the last value on, with its key
    Field field{};   // what it is to whoever asks
  };
  static constexpr size_t kMost = 32;
  /// As often records must differ in a row before others are learned, so that
  /// two kinds that alternate do not.
  static constexpr unsigned kMisses = 3;

  /// Whether the next record that did not fit is to be learned.
  bool Learns() { return ++misses >= kMisses; }
  /// Forgets; nothing is known until End.
  void Begin() { count = added = 0; }
  void Add(std::string_view before, Field field) {
    if (added >= kMost || !values[added].before.Set(before)) {
      added = kMost + 1;
      return;
    }
    values[added++].field = field;
  }
  void End(std::string_view after_last) {
    count = added <= kMost && tail.Set(after_last) ? added : 0;
    misses = 0;
  }

  unsigned misses = kMisses - 1;  // none is known
  size_t count = 0;               // 0: not known
  size_t added = 0;  // since Begin; beyond kMost when they do not fit
  std::array<Value, kMost> values;
  Literal tail;
};

}  // namespace inferdiff
