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
#include <string_view>

#include "readers/kineto_event.h"
#include "readers/text_layout.h"

namespace inferdiff {

/// Of args whose values are all numbers, strings or arrays of numbers; which
/// field a value belongs to, nullptr where nobody asks.
using ArgsLayout = ValuesLayout<JsonScalar EventFields::*>;

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
