// SPDX-License-Identifier: Apache-2.0
// The text around the values of an event, learned from one and compared with
// the next: writers print each kind of event from one template.
//
//   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": ...
//   \--------/ \-------/      \----------/    \---------/
//    before ph  ph to cat       before the first value ...
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "readers/kineto_event.h"

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

/// How args are written whose values are all numbers, strings or arrays of
/// numbers.
struct ArgsLayout {
  struct Arg {
    Literal before;  // its value: from the { or the last value on, with its key
    JsonScalar EventFields::*field = nullptr;  // nullptr: nobody asks for it
  };
  static constexpr size_t kMost = 24;
  /// As often args must differ in a row before others are learned, so that two
  /// kinds that alternate do not.
  static constexpr unsigned kMisses = 3;

  /// Forgets; nothing is known until End.
  void Begin() { count = added = 0; }
  /// The text from the last value on, and what the value behind it is.
  void Add(std::string_view before, JsonScalar EventFields::*field);
  void End(std::string_view after_last);

  unsigned misses = kMisses - 1;  // none is known
  size_t count = 0;               // 0: not known
  size_t added = 0;  // since Begin; beyond kMost when they do not fit
  std::array<Arg, kMost> args;
  Literal tail;  // from the last value to the }
};

/// How the events of one kind are written.
struct KindLayout {
  enum class Slot : uint8_t { kName, kPid, kTid, kTs, kDur };
  static constexpr size_t kSlots = 5;

  bool known = false;
  std::array<Slot, kSlots> order{};
  std::array<Literal, kSlots> before;  // each value, from the cat's end on
  Literal before_args;                 // from the last value to the {
  ArgsLayout args;
  Literal tail;  // behind the args' }
};

struct LayoutCache {
  bool known = false;
  Literal before_ph;
  Literal ph_to_cat;
  std::array<KindLayout, static_cast<size_t>(EventKind::kCount)> kinds;

  /// From an event whose ph is X and whose ph and cat were found.
  void LearnHead(std::string_view event, const EventFields& fields);
  /// From an event parsed key by key, its args at [args_begin, args_end).
  void LearnKind(std::string_view event, const EventFields& fields,
                 EventKind kind, size_t args_begin, size_t args_end);
};

}  // namespace inferdiff
