// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_event_reader.h"

#include <cstring>
#include <optional>

#include "readers/kineto_boundary.h"

namespace inferdiff {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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
  EventFields fields;
  DecimalTime start;
  DecimalTime dur;
  if (!ReadHead(layout, &p, &fields, &start, &dur)) return false;
  if (p != text_.data() + extent.args_begin + 1 ||
      extent.end - extent.args_end != layout.tail.size() ||
      !layout.tail.Matches(text_.data() + extent.args_end) ||
      !ReadFlatArgs(extent.args_begin + 1, extent.args_end - 1, &fields)) {
    return false;
  }
  AddTimedEvent(fields, start, dur, kind, batch_->elements, batch_);
  return true;
}

/// From the end of the category to behind the args' brace.
bool EventReader::ReadHead(const KindLayout& layout, const char** at,
                           EventFields* fields, DecimalTime* ts,
                           DecimalTime* dur) const {
  using Slot = KindLayout::Slot;
  const char* p = *at;
  for (size_t i = 0; i < KindLayout::kSlots; ++i) {
    const Literal& before = layout.before[i];
    const char behind = i + 1 < KindLayout::kSlots
                            ? layout.before[i + 1].front()
                            : layout.before_args.front();
    if (!before.Matches(p)) return false;
    p += before.size();
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
      while ((IsDigit(*p) || *p == '-') && p - begin < kLongest) ++p;
      if (p == begin) return false;
    }
    const std::string_view text(begin, static_cast<size_t>(p - begin));
    JsonScalar* const value =
        slot == Slot::kName
            ? &fields->name
            : (slot == Slot::kPid ? &fields->pid : &fields->tid);
    *value = {text, true, behind == '"'};
  }
  if (!layout.before_args.Matches(p)) return false;
  *at = p + layout.before_args.size();
  return true;
}

/// Args whose values are numbers, strings and arrays of numbers. False when
/// there is anything else; ParseEvent sees the same in what is accepted here.
bool EventReader::ReadFlatArgs(size_t begin, size_t end,
                               EventFields* fields) const {
  size_t at = begin;
  // A key may be spelled with escapes.
  if (std::memchr(text_.data() + begin, '\\', end - begin) != nullptr)
    return false;
  while (true) {
    at = SkipJsonSpace(text_, at);
    if (at >= end) return at == end;
    if (text_[at] != '"') return false;
    const size_t key = at + 1;
    at = finder_->QuoteFrom(key);
    if (at >= end || text_[at + 1] != ':') return false;
    const std::string_view name = text_.substr(key, at - key);
    at += 2;
    if (text_[at] == ' ') ++at;
    JsonScalar value{{}, true, false};
    size_t from = at;
    if (text_[at] == '"') {
      from = at + 1;
      at = finder_->QuoteFrom(from);
      if (at >= end) return false;
      value = {text_.substr(from, at - from), true, true};
      ++at;
    } else if (text_[at] == '[') {
      ++at;
      while (at < end && (IsDigit(text_[at]) || text_[at] == ',' ||
                          text_[at] == ' ' || text_[at] == '.')) {
        ++at;
      }
      if (text_[at] != ']') return false;
      ++at;
      value = {};
    } else {
      constexpr size_t kLongest = 18;
      if (text_[at] == '-') ++at;
      if (!IsDigit(text_[at])) return false;
      while (at < end && (IsDigit(text_[at]) || text_[at] == '.')) ++at;
      if (at - from > kLongest) return false;
      value.text = text_.substr(from, at - from);
    }
    if (name == "correlation") fields->correlation = value;
    if (name == "device") fields->device = value;
    at = SkipJsonSpace(text_, at);
    if (at >= end) return at == end;
    if (text_[at] != ',') return false;
    ++at;
  }
}

}  // namespace inferdiff
