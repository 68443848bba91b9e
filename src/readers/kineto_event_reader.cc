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
  const KindLayout& layout = layouts_.kinds[static_cast<size_t>(kind)];
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
      !layout.tail.Matches(text_.data() + extent.args_end) ||
      !ReadFlatArgs(extent.args_begin + 1, extent.args_end - 1, &fields)) {
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

/// A number, a string or an array of numbers at `p`; returns its end. nullptr:
/// something else.
const char* EventReader::SkipFlatValue(const char* p,
                                       QuoteCursor* quotes) const {
  if (*p == '"') {
    quotes->Next();  // this one
    return text_.data() + quotes->Next() + 1;
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

/// Moves over space and one comma at `p`, and remembers them as the usual text
/// between two args; false: the end, or something else.
bool EventReader::SkipGap(const char** p, const char* end) {
  const auto skip = [&](const char* from) {
    while (from < end && IsJsonSpace(*from)) ++from;
    return from;
  };
  const char* const begin = *p;
  *p = skip(begin);
  if (*p >= end || **p != ',') return false;
  *p = skip(*p + 1);
  usual_gap_.Set({begin, static_cast<size_t>(*p - begin)});
  return true;
}

/// Args whose values are flat. False when there is anything else; ParseEvent
/// sees the same in what is accepted here.
bool EventReader::ReadFlatArgs(size_t begin, size_t end, EventFields* fields) {
  const char* p = text_.data() + SkipJsonSpace(text_, begin);
  const char* const stop = text_.data() + end;
  if (p >= stop) return p == stop;
  // A key may be spelled with escapes.
  if (std::memchr(p, '\\', static_cast<size_t>(stop - p)) != nullptr) {
    return false;
  }
  QuoteCursor quotes = finder_->QuotesFrom(begin);
  while (true) {
    if (p >= stop || *p != '"' || text_.data() + quotes.Next() != p) {
      return false;
    }
    const char* const key = p + 1;
    p = text_.data() + quotes.Next();
    if (p >= stop || p[1] != ':') return false;
    const std::string_view name(key, static_cast<size_t>(p - key));
    p += p[2] == ' ' ? 3 : 2;
    const char* const value = p;
    p = SkipFlatValue(p, &quotes);
    if (p == nullptr || p > stop) return false;
    if (JsonScalar* const field = FieldOfArg(name, fields))
      SetScalar(value, p, field);
    if (usual_gap_.Matches(p) && p[usual_gap_.size()] == '"') {
      p += usual_gap_.size();
    } else if (!SkipGap(&p, stop)) {
      return p == stop;
    }
  }
}

}  // namespace inferdiff
