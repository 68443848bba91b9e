// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_event_reader.h"

#include <cstring>
#include <optional>

#include "readers/digits.h"
#include "readers/kineto_boundary.h"

namespace inferdiff {
namespace {

/// The scalar in [begin, end); none where that is an array.
void SetScalar(const char* begin, const char* end, JsonScalar* scalar) {
  const auto size = static_cast<size_t>(end - begin);
  scalar->quoted = *begin == '"';
  scalar->present = *begin != '[';
  scalar->text = scalar->quoted ? std::string_view(begin + 1, size - 2)
                                : std::string_view(begin, size);
  if (!scalar->present) scalar->text = {};
}

/// Moves over space and one comma at `p`; false: the end, or something else.
bool SkipGap(const char** p, const char* end) {
  const auto skip = [&](const char* from) {
    while (from < end && IsJsonSpace(*from)) ++from;
    return from;
  };
  *p = skip(*p);
  if (*p >= end || **p != ',') return false;
  *p = skip(*p + 1);
  return true;
}

}  // namespace

EventKind EventReader::KindAt(const char* cat, const Literal** text) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15U;
  uint64_t head = 0;
  std::memcpy(&head, cat, sizeof(head));
  CatEntry& entry = cats_[(head * kOdd) >> 60];
  *text = &entry.text;
  if (entry.head == head && entry.text.Matches(cat)) return entry.kind;
  const auto at = static_cast<size_t>(cat - text_.data());
  const size_t quote = finder_->QuoteFrom(at);
  const std::string_view name = text_.substr(at, quote - at);
  entry.head = 0;
  if (quote < finder_->end() &&
      entry.text.Set(text_.substr(at, quote + 1 - at))) {
    entry.head = head;
  } else {
    *text = nullptr;
  }
  entry.kind = KindOf(name);
  return entry.kind;
}

void EventReader::Take(size_t at, const Extent& extent) {
  if (TakeByLayout(at, extent)) return;
  const bool has_args = extent.braces == Extent::kUsualBraces;
  TakeSlowly(text_.substr(at, extent.end - at), Strictness::kStrict,
             has_args ? &extent : nullptr);
}

/// Key by key. `extent` where the layout can be learned.
void EventReader::TakeSlowly(std::string_view event, Strictness strictness,
                             const Extent* extent) {
  EventFields fields;
  ImportCounters* const counters = &batch_->counters;
  if (strictness == Strictness::kStrict) {
    if (!FindKind(event, &fields)) {
      counters->Add(Counter::kMalformedRecord);
      return;
    }
    if (!IsActivity(fields) || !fields.cat.present) return;
    layouts_.LearnHead(event, fields);
    if (KindOf(fields.cat.text) == EventKind::kOther) return;
    fields = {};
  }
  ImportCounters found;
  const std::optional<size_t> end =
      ParseEvent(event, strictness, &fields, &found);
  if (!end || *end != event.size()) {
    counters->Add(Counter::kMalformedRecord);
    return;
  }
  counters->Merge(found);
  if (strictness == Strictness::kLenient) {
    counters->Add(Counter::kUnescapedQuote);
  }
  const EventKind kind = KindOf(fields.cat.text);
  if (!IsActivity(fields) || kind == EventKind::kOther) return;
  if (extent != nullptr) {
    const size_t begin = static_cast<size_t>(event.data() - text_.data());
    layouts_.LearnKind(event, fields, kind, extent->args_begin - begin,
                       extent->args_end - begin);
  }
  AddEvent(fields, kind, batch_->elements, batch_);
}

/// True when the event is done with; false: nothing was done.
bool EventReader::TakeByLayout(size_t at, const Extent& extent) {
  // Everything below reads at most a literal's length beyond what it checked.
  if (!layouts_.known) return false;
  const char* p = text_.data() + at;
  if (!layouts_.before_ph.Matches(p)) return false;
  p += layouts_.before_ph.size();
  if (*p != 'X') return p[1] == '"' && *p >= 'A';
  if (!layouts_.ph_to_cat.Matches(p + 1)) return false;
  p += 1 + layouts_.ph_to_cat.size();
  const Literal* cat = nullptr;
  const EventKind kind = KindAt(p, &cat);
  if (kind == EventKind::kOther) return true;
  KindLayout& layout = layouts_.kinds[static_cast<size_t>(kind)];
  if (!layout.known || cat == nullptr ||
      extent.braces != Extent::kUsualBraces) {
    return false;
  }
  p += cat->size() - 1;  // its closing quote belongs to the next literal
  EventFields& fields = fields_;
  fields.correlation.present = fields.device.present = false;
  fields.group.present = fields.group_ranks.present = false;
  fields.device.text = {};
  DecimalTime start;
  DecimalTime dur;
  const char* const args = text_.data() + extent.args_begin + 1;
  if (!ReadHead(layout, args, &p, &fields, &start, &dur) || p != args ||
      extent.end - extent.args_end != layout.tail.size() ||
      !layout.tail.Matches(text_.data() + extent.args_end)) {
    return false;
  }
  const char* const args_end = text_.data() + extent.args_end - 1;
  if (ReadArgs(layout.args, args, args_end, &fields)) {
    layout.args.misses = 0;
  } else if (!ReadFlatArgs(extent.args_begin + 1, extent.args_end - 1, &fields,
                           &layout.args)) {
    return false;
  }
  AddTimedEvent(fields, start, dur, kind, batch_->elements, batch_);
  return true;
}

/// From the end of the category to behind the args' brace, at `args`.
bool EventReader::ReadHead(const KindLayout& layout, const char* args,
                           const char** at, EventFields* fields,
                           DecimalTime* ts, DecimalTime* dur) const {
  using Slot = KindLayout::Slot;
  const char* p = *at;
  for (size_t i = 0; i < KindLayout::kSlots; ++i) {
    const Literal& before = layout.before[i];
    const char behind = i + 1 < KindLayout::kSlots
                            ? layout.before[i + 1].front()
                            : layout.before_args.front();
    if (!before.Matches(p)) return false;
    p += before.size();
    if (p >= args) return false;  // the event's last brace ends what follows
    const char* const begin = p;
    const Slot slot = layout.order[i];
    if (slot == Slot::kTs || slot == Slot::kDur) {
      p = ParsePlainTime(p, slot == Slot::kTs ? ts : dur);
      if (p == nullptr) return false;
      continue;
    }
    if (behind == '"') {
      p = text_.data() +
          finder_->QuoteFrom(static_cast<size_t>(p - text_.data()));
    } else {
      constexpr ptrdiff_t kLongest = 18;  // surely within 64 bits
      if (*p == '-') ++p;
      p = SkipDigits(p);
      if (p == begin || p - begin > kLongest) return false;
    }
    JsonScalar* const value =
        slot == Slot::kName
            ? &fields->name
            : (slot == Slot::kPid ? &fields->pid : &fields->tid);
    value->text = {begin, static_cast<size_t>(p - begin)};
    value->present = true;
    value->quoted = behind == '"';
  }
  if (!layout.before_args.Matches(p)) return false;
  *at = p + layout.before_args.size();
  return true;
}

/// A number, a string without escapes or an array of numbers at `p`; returns
/// its end. nullptr: something else.
const char* EventReader::SkipFlatValue(const char* p) const {
  if (*p == '"') {
    const auto begin = static_cast<size_t>(p + 1 - text_.data());
    const size_t quote = finder_->QuoteFrom(begin);
    const bool escapes = std::memchr(p + 1, '\\', quote - begin) != nullptr;
    return escapes ? nullptr : text_.data() + quote + 1;
  }
  if (*p == '[') {
    do {
      p = SkipNumber(p + 1);
      if (*p == ',' && p[1] == ' ') ++p;
    } while (*p == ',' || *p == ' ');
    return *p == ']' ? p + 1 : nullptr;
  }
  constexpr ptrdiff_t kLongest = 18;
  const char* const begin = p;
  if (*p == '-') ++p;
  if (!IsDigit(*p)) return nullptr;
  p = SkipNumber(p);
  return p - begin > kLongest ? nullptr : p;
}

/// Args as the last ones of their kind were, which were flat.
bool EventReader::ReadArgs(const ArgsLayout& layout, const char* p,
                           const char* end, EventFields* fields) const {
  if (layout.count == 0) return false;
  for (size_t i = 0; i < layout.count; ++i) {
    const ArgsLayout::Value& arg = layout.values[i];
    if (!arg.before.Matches(p)) return false;
    p += arg.before.size();
    if (p >= end) return false;
    const char* const value = p;
    p = SkipFlatValue(p);
    if (p == nullptr || p > end) return false;
    if (arg.field != nullptr) SetScalar(value, p, &(fields->*arg.field));
  }
  return layout.tail.Matches(p) && p + layout.tail.size() == end;
}

/// Args whose values are flat. False when there is anything else; ParseEvent
/// sees the same in what is accepted here. Learned when others have failed to
/// fit for long.
bool EventReader::ReadFlatArgs(size_t begin, size_t end, EventFields* fields,
                               ArgsLayout* learned) {
  const char* p = text_.data() + SkipJsonSpace(text_, begin);
  const char* const stop = text_.data() + end;
  if (p >= stop) return p == stop;
  const bool learn = learned->Learns();
  if (learn) learned->Begin();
  const char* from = text_.data() + begin;  // behind the last value
  for (bool first = true;; first = false) {
    if (!first && !SkipGap(&p, stop)) break;
    if (p >= stop || *p != '"') return false;
    const char* const key = p;
    p = SkipFlatValue(p);  // a key may be spelled with escapes
    if (p == nullptr || p >= stop || *p != ':') return false;
    const auto field = FieldOfArg({key + 1, static_cast<size_t>(p - key - 2)});
    p += p[1] == ' ' ? 2 : 1;
    const char* const value = p;
    p = SkipFlatValue(p);
    if (p == nullptr || p > stop) return false;
    if (field != nullptr) SetScalar(value, p, &(fields->*field));
    if (learn) learned->Add({from, static_cast<size_t>(value - from)}, field);
    from = p;
  }
  if (p != stop) return false;
  if (learn) learned->End({from, static_cast<size_t>(stop - from)});
  return true;
}

}  // namespace inferdiff
