// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_walker.h"

#include <algorithm>

#include "readers/digits.h"
#include "readers/kineto_boundary.h"

namespace inferdiff {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

}  // namespace

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
bool EventWalker::FindElement(size_t* at, From from, Result* result) {
  // The first element stands behind the [ of the array; another [ is junk.
  bool after_comma = from == From::kArray;
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
        separator_.Set(text_.substr(begin, brace - begin));
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
    finder_.Forget();  // quotes in it say nothing of what follows
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

EventWalker::Result EventWalker::Walk(std::string_view text, size_t at,
                                      size_t limit, bool final, From from,
                                      RecordBatch* batch) {
  text_ = text;
  limit_ = limit;
  final_ = final;
  batch_ = batch;
  finder_.Start(text, final);
  reader_.Start(text, &finder_, batch);
  Result result{};
  if (from == From::kLost && !LeaveLost(&at, &result)) return result;
  if (!FindElement(&at, from, &result)) return result;
  while (true) {
    Extent extent;
    switch (finder_.Find(at, &extent)) {
      case ExtentFinder::Found::kEvent:
        reader_.Take(at, extent);
        ++batch_->elements;
        at = extent.end;
        break;
      case ExtentFinder::Found::kBroken:
        if (!TakeBroken(&at, &result)) return result;
        break;
      case ExtentFinder::Found::kNeedText:
        if (!final_) return {Stop::kNeedText, at};
        return {Stop::kCut, at};
    }
    const size_t next = at + separator_.size();
    if (separator_.size() != 0 && next < limit_ && next < text_.size() &&
        separator_.Matches(text_.data() + at) && text_[next] == '{') {
      at = next;
      continue;
    }
    if (!FindElement(&at, From::kBetween, &result)) return result;
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
  reader_.TakeBroken(text.substr(begin, close - begin));
  ++batch_->elements;
  *at = end;
  finder_.Forget();  // the bits there belong to the broken event
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

}  // namespace inferdiff
