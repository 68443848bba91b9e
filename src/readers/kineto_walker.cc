// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_walker.h"

#include <algorithm>
#include <cstring>

#include "readers/kineto_boundary.h"

namespace inferdiff {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

/// First stretch scanned at once: its bits stay in the first-level cache.
constexpr size_t kChunk = 16 * 1024;

/// An event with more than this is looked through for the start of another
/// one: a brace may be missing.
constexpr size_t kUsualLength = 4096;
constexpr unsigned kUsualBraces = 4;

/// Objects within objects: more are braces that nobody closed.
constexpr size_t kDeepest = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

/// Scans `length` bytes, or up to the end of the text. Bits behind it are 0.
void EventWalker::Scan(size_t at, size_t length) {
  const size_t rest = text_.size() - at;
  const size_t bytes = std::min(length, rest);
  const size_t blocks = (bytes + 63) / 64;
  if (bits_.size() < blocks) bits_.resize(blocks);
  origin_ = at;
  scanned_ = at + bytes;
  any_bad_ = ScanJson(text_.data() + at, blocks, bits_.data());
  if (bytes % 64 != 0) {
    const uint64_t valid = (uint64_t{1} << (bytes % 64)) - 1;
    ScanBits& last = bits_[blocks - 1];
    last = {last.quote & valid, last.brace & valid, last.bad & valid};
  }
}

bool EventWalker::HasBadBits(size_t begin, size_t end) const {
  if (!any_bad_) return false;
  const size_t first = (begin - origin_) / 64;
  const size_t last = (std::min(end, scanned_) - 1 - origin_) / 64;
  for (size_t i = first; i <= last; ++i) {
    uint64_t bad = bits_[i].bad;
    if (i == first) bad &= ~uint64_t{0} << ((begin - origin_) % 64);
    if (i == last && end <= scanned_) {
      bad &= ~uint64_t{0} >> (63 - (end - 1 - origin_) % 64);
    }
    if (bad != 0) return true;
  }
  return false;
}

/// The next quote at or behind `at`, which lies in the scanned stretch; the
/// end of the stretch when there is none.
size_t EventWalker::QuoteFrom(size_t at) const {
  size_t word = (at - origin_) / 64;
  const size_t words = (scanned_ - origin_ + 63) / 64;
  if (word >= words) return scanned_;
  uint64_t bits = bits_[word].quote & (~uint64_t{0} << ((at - origin_) % 64));
  while (bits == 0) {
    if (++word >= words) return scanned_;
    bits = bits_[word].quote;
  }
  return origin_ + word * 64 + static_cast<size_t>(__builtin_ctzll(bits));
}

/// Follows the braces from the one at `at` to its partner.
EventWalker::Found EventWalker::FindExtent(size_t at, Extent* extent) {
  if (at < origin_ || at >= scanned_) Scan(at, kChunk);
  while (true) {
    *extent = {};
    size_t depth = 0;
    size_t word = (at - origin_) / 64;
    const size_t words = (scanned_ - origin_ + 63) / 64;
    uint64_t bits = bits_[word].brace & (~uint64_t{0} << ((at - origin_) % 64));
    while (true) {
      while (bits == 0 && ++word < words) bits = bits_[word].brace;
      if (bits == 0) break;
      const size_t brace =
          origin_ + word * 64 + static_cast<size_t>(__builtin_ctzll(bits));
      bits &= bits - 1;
      if (++extent->braces == 2) extent->args_begin = brace;
      if (text_[brace] == '{') {
        if (++depth > kDeepest) return Found::kBroken;
        continue;
      }
      if (--depth == 0) {
        extent->end = brace + 1;
        return Judge(at, *extent);
      }
      extent->args_end = brace + 1;
    }
    // Not within the scanned stretch.
    if (HasBadBits(at, scanned_)) return Found::kBroken;
    if (origin_ == at && (scanned_ - at >= kChunk || final_) &&
        FindNestedEvent(text_, at, scanned_) != kNowhere) {
      return Found::kBroken;
    }
    if (scanned_ - at > kLongestEvent) return Found::kBroken;
    if (origin_ == at && scanned_ == text_.size()) return Found::kNeedText;
    Scan(at, origin_ == at ? 2 * (scanned_ - at) : kChunk);
  }
}

EventWalker::Found EventWalker::Judge(size_t at, const Extent& extent) const {
  if (HasBadBits(at, extent.end)) return Found::kBroken;
  const size_t length = extent.end - at;
  if (length <= kUsualLength && extent.braces <= kUsualBraces) {
    return Found::kEvent;
  }
  if (length > kLongestEvent ||
      FindNestedEvent(text_, at, extent.end) != kNowhere) {
    return Found::kBroken;
  }
  return Found::kEvent;
}

/// Whether the ] at `at` closes the array of events: only a member of the
/// object around it or that object's end can follow. False with `result` set
/// when the text ends too early to tell.
bool EventWalker::IsArrayEnd(size_t at, bool* need_text) const {
  size_t next = SkipJsonSpace(text_, at + 1);
  bool after_comma = false;
  if (next < text_.size() && text_[next] == ',') {
    after_comma = true;
    next = SkipJsonSpace(text_, next + 1);
  }
  if (next >= text_.size()) {
    *need_text = !final_;
    return final_;
  }
  return text_[next] == '"' || (text_[next] == '}' && !after_comma);
}

/// Moves `at` over commas to the { of the next element; false: `result` says
/// why there is none.
bool EventWalker::FindElement(size_t* at, Result* result) {
  // The first element stands behind the [ of the array.
  bool after_comma = *at < text_.size() && text_[*at] == '[';
  size_t next = *at + (after_comma ? 1 : 0);
  while (true) {
    const size_t begin = next;
    next = SkipJsonSpace(text_, next);
    if (next - *at > kLongestEvent) after_comma = false;  // long forgotten
    if (next >= text_.size()) {
      // Of space and commas the last comma is all that matters.
      *result = {final_ ? Stop::kCut : Stop::kNeedText,
                 after_comma ? *at : next};
      return false;
    }
    const char c = text_[next];
    if (c == ',') {
      const size_t brace = SkipJsonSpace(text_, next + 1);
      if (!after_comma && brace < text_.size() && text_[brace] == '{') {
        layouts_.separator.Set(text_.substr(begin, brace - begin));
      }
      after_comma = true;
      *at = next++;
      continue;
    }
    bool need_text = false;
    if (c == ']' && IsArrayEnd(next, &need_text)) {
      *result = {Stop::kEnd, next + 1};
      return false;
    }
    if (need_text) {
      *result = {Stop::kNeedText, *at};
      return false;
    }
    if (next >= limit_) {
      *result = {Stop::kLimit, c == '{' ? next : *at};
      return false;
    }
    if (c == '{') {
      *at = next;
      return true;
    }
    const Junk junk = JunkAt(next, after_comma, &next);
    if (junk == Junk::kNeedText) {
      *result = {Stop::kNeedText, *at};
      return false;
    }
    origin_ = scanned_ = 0;  // quotes in it say nothing of what follows
    if (junk == Junk::kBroken) {
      if (!TakeBroken(&next, result)) {
        if (!result->lost) result->at = *at;
        return false;
      }
    } else if (junk == Junk::kValue) {
      batch_->counters.Add(Counter::kMalformedRecord);
      ++batch_->elements;
    } else {
      batch_->counters.Add(Counter::kSkippedBytes, next - *at);
    }
    after_comma = false;
    *at = next;
  }
}

/// What stands at `at` where an event should, and where it ends.
EventWalker::Junk EventWalker::JunkAt(size_t at, bool after_comma,
                                      size_t* end) const {
  const auto is_word = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.';
  };
  const size_t most = std::min(text_.size(), at + kLongestEvent);
  size_t next = at;
  while (next < most && is_word(text_[next])) ++next;
  const size_t word_end = next;
  next = SkipJsonSpace(text_, next);
  if (next == text_.size() && !final_) return Junk::kNeedText;
  if (after_comma) {
    *end = word_end;
    const bool is_value = word_end != at && next < text_.size() &&
                          (text_[next] == ',' || text_[next] == ']');
    if (!is_value) *end = at;
    return is_value ? Junk::kValue : Junk::kBroken;
  }
  next = at + 1;
  while (next < most && text_[next] != ',' && text_[next] != ']' &&
         text_[next] != '{') {
    ++next;
  }
  if (next == text_.size() && !final_) return Junk::kNeedText;
  *end = next;
  return Junk::kBytes;
}

EventWalker::Result EventWalker::Walk(std::string_view text, size_t from,
                                      size_t limit, bool final, bool lost,
                                      RecordBatch* batch) {
  text_ = text;
  limit_ = limit;
  final_ = final;
  batch_ = batch;
  origin_ = scanned_ = 0;
  Result result{};
  size_t at = from;
  if (lost && !LeaveLost(&at, &result)) return result;
  if (!FindElement(&at, &result)) return result;
  while (true) {
    Extent extent;
    switch (FindExtent(at, &extent)) {
      case Found::kEvent:
        TakeEvent(at, extent);
        ++batch_->elements;
        at = extent.end;
        break;
      case Found::kBroken:
        if (!TakeBroken(&at, &result)) return result;
        break;
      case Found::kNeedText:
        if (!final_) return {Stop::kNeedText, at};
        return {Stop::kCut, at};
    }
    const Literal& separator = layouts_.separator;
    const size_t next = at + separator.size();
    if (separator.size() != 0 && next < limit_ && next < text_.size() &&
        separator.Matches(text_.data() + at) && text_[next] == '{') {
      at = next;
      continue;
    }
    if (!FindElement(&at, &result)) return result;
  }
}

/// An event whose text is not JSON: repairs it, or counts it as lost, and
/// moves on to where the next one seems to begin.
bool EventWalker::TakeBroken(size_t* at, Result* result) {
  const size_t begin = *at;
  const size_t most = std::min(text_.size(), begin + kLongestEvent);
  const std::string_view text = text_.substr(0, most);
  size_t next = FindEventStart(text, begin + 1);
  const size_t last = FindLastBrace(text.substr(0, next), begin);
  size_t end = next;
  bool given_up = false;
  if (last != kNowhere) {
    end = last + 1;
  } else if (next != kNowhere) {
    end = text.rfind(',', next);
  } else if (most < begin + kLongestEvent) {
    if (!final_) {
      *result = {Stop::kNeedText, begin};
      return false;
    }
    *result = {Stop::kCut, begin};
    return false;
  } else {
    end = most;
    given_up = true;
  }
  size_t close = end;
  while (close > begin && IsJsonSpace(text[close - 1])) --close;
  TakeSlowly(text.substr(begin, close - begin), Strictness::kLenient, nullptr);
  ++batch_->elements;
  *at = end;
  origin_ = scanned_ = 0;  // the bits there belong to the broken event
  return !given_up || LeaveLost(at, result);
}

/// Moves `at`, within an event that was given up, to where the next one seems
/// to begin: a ] in there says nothing. False: not in this text.
bool EventWalker::LeaveLost(size_t* at, Result* result) {
  const size_t begin = *at;
  const size_t next = FindEventStart(text_, begin);
  const size_t last =
      next == kNowhere && final_ ? FindLastBrace(text_, begin) : kNowhere;
  const size_t seen = std::min(limit_, text_.size());
  if (next != kNowhere) {
    *at = next;
  } else if (last != kNowhere) {
    *at = last + 1;
  } else if (final_ && limit_ > text_.size()) {
    *result = {Stop::kCut, begin};
    return false;
  } else {
    // An event's start is told by the text in front of it, too.
    *at = std::max(begin, seen - std::min(seen, kTextBefore));
    *result = {limit_ > seen ? Stop::kNeedText : Stop::kLimit, *at, true};
  }
  batch_->counters.Add(Counter::kSkippedBytes, *at - begin);
  return !result->lost;
}

EventKind EventWalker::KindAt(const char* cat, const Literal** text) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15U;
  uint64_t head = 0;
  std::memcpy(&head, cat, sizeof(head));
  CatEntry& entry = cats_[(head * kOdd) >> 60];
  *text = &entry.text;
  if (entry.head == head && entry.text.Matches(cat)) return entry.kind;
  const auto at = static_cast<size_t>(cat - text_.data());
  const size_t quote = QuoteFrom(at);
  const std::string_view name = text_.substr(at, quote - at);
  entry.head = 0;
  if (quote < scanned_ && entry.text.Set(text_.substr(at, quote + 1 - at))) {
    entry.head = head;
  } else {
    *text = nullptr;
  }
  entry.kind = KindOf(name);
  return entry.kind;
}

void EventWalker::TakeEvent(size_t at, const Extent& extent) {
  if (TakeByLayout(at, extent)) return;
  const bool has_args = extent.braces == kUsualBraces;
  TakeSlowly(text_.substr(at, extent.end - at), Strictness::kStrict,
             has_args ? &extent : nullptr);
}

/// Key by key. `extent` where the layout can be learned.
void EventWalker::TakeSlowly(std::string_view event, Strictness strictness,
                             const Extent* extent) {
  EventFields fields;
  ImportCounters* const counters = &batch_->counters;
  if (strictness == Strictness::kStrict) {
    if (!FindKind(event, &fields)) {
      counters->Add(Counter::kMalformedRecord);
      return;
    }
    if (fields.ph.text != "X" || !fields.cat.present) return;
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
  if (fields.ph.text != "X" || kind == EventKind::kOther) return;
  if (extent != nullptr) {
    const size_t begin = static_cast<size_t>(event.data() - text_.data());
    layouts_.LearnKind(event, fields, kind, extent->args_begin - begin,
                       extent->args_end - begin);
  }
  AddEvent(fields, kind, batch_->elements, batch_);
}

/// True when the event is done with; false: nothing was done.
bool EventWalker::TakeByLayout(size_t at, const Extent& extent) {
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
  if (!layout.known || cat == nullptr || extent.braces != kUsualBraces) {
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
bool EventWalker::ReadHead(const KindLayout& layout, const char** at,
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
      p = text_.data() + QuoteFrom(static_cast<size_t>(p - text_.data()));
    } else {
      constexpr ptrdiff_t kLongest = 20;
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
bool EventWalker::ReadFlatArgs(size_t begin, size_t end,
                               EventFields* fields) const {
  size_t at = begin;
  while (true) {
    at = SkipJsonSpace(text_, at);
    if (at >= end) return at == end;
    if (text_[at] != '"') return false;
    const size_t key = at + 1;
    at = QuoteFrom(key);
    if (at >= end || text_[at + 1] != ':') return false;
    const std::string_view name = text_.substr(key, at - key);
    at += 2;
    if (text_[at] == ' ') ++at;
    JsonScalar value{{}, true, false};
    size_t from = at;
    if (text_[at] == '"') {
      from = at + 1;
      at = QuoteFrom(from);
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
