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
    return true;
  }
  size_t size() const { return size_; }
  char front() const { return text_[0]; }
  /// 64 bytes must be readable at `at`.
  bool Matches(const char* at) const {
    size_t i = 0;
    for (; i + 8 <= size_; i += 8) {
      if (std::memcmp(at + i, text_.data() + i, 8) != 0) return false;
    }
    for (; i < size_; ++i) {
      if (at[i] != text_[i]) return false;
    }
    return true;
  }

 private:
  std::array<char, kMost> text_{};
  size_t size_ = 0;
};

/// How the events of one kind are written.
struct KindLayout {
  enum class Slot : uint8_t { kName, kPid, kTid, kTs, kDur };
  static constexpr size_t kSlots = 5;

  bool known = false;
  std::array<Slot, kSlots> order{};
  std::array<Literal, kSlots> before;  // each value, from the cat's end on
  Literal before_args;                 // from the last value to the {
  Literal tail;                        // behind the args' }
};

struct LayoutCache {
  bool known = false;
  Literal before_ph;
  Literal ph_to_cat;
  std::array<KindLayout, 8> kinds;

  /// From an event whose ph is X and whose ph and cat were found.
  void LearnHead(std::string_view event, const EventFields& fields);
  /// From an event parsed key by key, its args at [args_begin, args_end).
  void LearnKind(std::string_view event, const EventFields& fields,
                 EventKind kind, size_t args_begin, size_t args_end);
};

}  // namespace inferdiff
