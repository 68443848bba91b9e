// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_fields.h"

#include <bit>

#include "readers/digits.h"
#include "readers/json_fields.h"
#include "readers/parse_digits.h"
#include "readers/rocprof_number.h"

namespace inferdiff {
namespace {

using Slot = RocprofSlot;

/// Of a scalar under `key`, in the object under `parent` or in the record.
Slot SlotOf(std::string_view parent, std::string_view key) {
  if (key == "handle") {
    if (parent == "agent_id" || parent == "src_agent_id") return Slot::kAgent;
    if (parent == "dst_agent_id") return Slot::kDestination;
    if (parent == "queue_id") return Slot::kQueue;
    if (parent == "stream_id") return Slot::kStream;
  } else if (!parent.empty()) {
    if (key == "internal") return Slot::kCorrelation;
    if (key == "kernel_id") return Slot::kKernel;
  } else {
    if (key == "start_timestamp") return Slot::kStart;
    if (key == "end_timestamp") return Slot::kEnd;
    if (key == "kind") return Slot::kKind;
    if (key == "operation") return Slot::kOperation;
    if (key == "thread_id") return Slot::kThread;
  }
  return Slot::kNothing;
}

void SetField(Slot slot, std::string_view text, RocprofFields* fields) {
  const bool is_time = slot == Slot::kStart || slot == Slot::kEnd;
  bool good = false;
  if (is_time || slot == Slot::kThread || slot == Slot::kCorrelation) {
    int64_t number = 0;
    good = ReadRocprofNumber(text, &number);
    if (good) fields->Set(slot, static_cast<uint64_t>(number));
  } else if (slot != Slot::kNothing) {
    uint64_t number = 0;
    good = ReadRocprofNumber(text, &number);
    if (good) fields->Set(slot, number);
  }
  if (good) return;
  fields->present &= ~(1U << static_cast<unsigned>(slot));
  fields->out_of_range |=
      is_time && text.find_first_not_of("0123456789") == text.npos;
}

/// Numbers of so many digits are read from a layout.
constexpr ptrdiff_t kMostDigits = 18;

/// As SkipDigits, but looks at 24 bytes at most: nobody knows what stands
/// behind the text.
const char* SkipFewDigits(const char* p) {
  const char* const most = p + 24;
  while (p != most) {
    if constexpr (std::endian::native == std::endian::little) {
      const uint64_t others = NonDigits(p);
      if (others != 0) return p + __builtin_ctzll(others) / 8;
      p += 8;
    } else {
      if (!IsDigit(*p)) return p;
      ++p;
    }
  }
  return p;
}

bool IsShortNumber(std::string_view text) {
  const ptrdiff_t digits = SkipDigits(text.data()) - text.data();
  return digits > 0 && digits <= kMostDigits &&
         static_cast<size_t>(digits) == text.size();
}

/// Member by member; the layout is learned where others failed to fit for long.
bool ReadSlowly(std::string_view text, RocprofLayout* layout,
                RocprofFields* fields) {
  const bool learn = layout->Learns();
  if (learn) layout->Begin();
  const char* from = text.data();  // behind the last value
  bool plain = true;
  const bool good =
      ForEachField(text, [&](std::string_view parent, std::string_view key,
                             std::string_view value, bool) {
        const Slot slot = SlotOf(parent, key);
        SetField(slot, value, fields);
        if (!learn) return;
        // In quotes, or an array: the number is not all of it.
        plain &= IsShortNumber(value) && value.data()[-1] != '"';
        layout->Add({from, static_cast<size_t>(value.data() - from)}, slot);
        from = value.data() + value.size();
      });
  if (learn && good && plain) {
    const char* const end = text.data() + text.size();
    layout->End({from, static_cast<size_t>(end - from)});
  }
  return good;
}

}  // namespace

const char* ReadRocprofByLayout(const RocprofLayout& layout, const char* p,
                                const char* end, RocprofFields* fields) {
  if (layout.count == 0) return nullptr;
  for (size_t i = 0; i < layout.count; ++i) {
    const RocprofLayout::Value& value = layout.values[i];
    if (!value.before.Matches(p)) return nullptr;
    p += value.before.size();
    if (p >= end) return nullptr;
    const char* const begin = p;
    p = SkipFewDigits(p);
    if (p == begin || p - begin > kMostDigits) return nullptr;
    if (value.field == Slot::kNothing) continue;
    int64_t number = 0;
    ParsePaddedDigits({begin, static_cast<size_t>(p - begin)}, &number);
    fields->Set(value.field, static_cast<uint64_t>(number));
  }
  if (!layout.tail.Matches(p)) return nullptr;
  p += layout.tail.size();
  return p <= end ? p : nullptr;
}

bool ReadRocprofRecord(std::string_view text, RocprofLayout* layout,
                       RocprofFields* fields) {
  const char* const end = text.data() + text.size();
  if (ReadRocprofByLayout(*layout, text.data(), end, fields) == end) {
    layout->misses = 0;
    return true;
  }
  *fields = {};
  return ReadSlowly(text, layout, fields);
}

}  // namespace inferdiff
