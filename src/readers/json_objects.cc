// SPDX-License-Identifier: Apache-2.0
#include "readers/json_objects.h"

#include <algorithm>

#include "base/crc32.h"
#include "readers/kineto_boundary.h"
#include "readers/text_blocks.h"

namespace inferdiff {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

/// Scanned at once: its bits stay in the first-level cache.
constexpr size_t kChunk = 16 * 1024;

/// An object longer than this is given up.
constexpr size_t kLongest = size_t{4} << 20;

/// Text without an object longer than this is no list of strings.
constexpr size_t kLongestGap = size_t{64} << 20;

/// A record longer than this is looked through for the start of another one:
/// a brace may be missing.
constexpr size_t kUsualLength = 1024;

/// Text behind a brace that tells what the object is.
constexpr size_t kTextAhead = 256;

/// Behind damage an object's start is told by text at most so far in front of
/// it; the key of its array by as much in front of that.
constexpr size_t kLook = 64;

}  // namespace

bool IsNearJson(std::string_view text, size_t brace) {
  const size_t before = LastJsonBefore(text, brace);
  const size_t key = SkipJsonSpace(text, brace + 1);
  return before != kNowhere && brace - before <= kLook &&
         key - brace <= kLook / 2;
}

size_t LastJsonBefore(std::string_view text, size_t at) {
  while (at > 0 && IsJsonSpace(text[at - 1])) --at;
  return at == 0 ? kNowhere : at - 1;
}

std::string_view JsonKeyBefore(std::string_view text, size_t colon) {
  const size_t close = LastJsonBefore(text, colon);
  if (close == kNowhere || text[close] != '"' || close == 0) return {};
  const size_t open = text.rfind('"', close - 1);
  if (open == kNowhere) return {};
  return text.substr(open + 1, close - open - 1);
}

/// Scans `length` bytes, or up to the end of the text. Bits behind it are 0.
void JsonObjects::Scan(size_t at, size_t length) {
  const size_t bytes = std::min(length, text_.size() - at);
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

bool JsonObjects::HasBad(size_t begin, size_t end) const {
  if (!any_bad_ || begin >= end) return false;
  const size_t last = (end - 1 - origin_) / 64;
  for (size_t i = (begin - origin_) / 64; i <= last; ++i) {
    uint64_t bad = bits_[i].bad;
    if (i == (begin - origin_) / 64) {
      bad &= ~uint64_t{0} << ((begin - origin_) % 64);
    }
    if (i == last) bad &= ~uint64_t{0} >> (63 - (end - 1 - origin_) % 64);
    if (bad != 0) return true;
  }
  return false;
}

/// The next brace at or behind `at`, within the scanned stretch; its end when
/// there is none.
size_t JsonObjects::NextBrace(size_t at) const {
  size_t word = (at - origin_) / 64;
  const size_t words = (scanned_ - origin_ + 63) / 64;
  if (word >= words) return scanned_;
  uint64_t bits = bits_[word].brace & (~uint64_t{0} << ((at - origin_) % 64));
  while (bits == 0) {
    if (++word >= words) return scanned_;
    bits = bits_[word].brace;
  }
  return origin_ + word * 64 + static_cast<size_t>(__builtin_ctzll(bits));
}

/// Behind the object at `brace`, which is scanned; kNowhere: not in this text,
/// or `broken`.
size_t JsonObjects::EndOf(size_t brace, bool* broken) {
  while (true) {
    size_t depth = 0;
    for (size_t at = NextBrace(brace); at < scanned_; at = NextBrace(at + 1)) {
      depth += text_[at] == '{' ? 1U : ~size_t{0};
      if (depth != 0) continue;
      const size_t end = at + 1;
      *broken = HasBad(brace, end) || end - brace > kLongest ||
                (end - brace > kUsualLength &&
                 sink_->FindStart(text_.substr(0, end), brace + 1) != kNowhere);
      return *broken ? kNowhere : end;
    }
    *broken = HasBad(brace, scanned_) || scanned_ - brace > kLongest;
    if (*broken || scanned_ == text_.size()) return kNowhere;
    Scan(brace, std::max(2 * (scanned_ - brace), kChunk));
  }
}

void JsonNesting::Join(const JsonNesting& next) {
  open = std::max(open + next.change, next.open);
  change += next.change;
  damaged |= next.damaged;
  cut |= next.cut;
}

/// Moves `at`, in damaged text, to where a record seems to begin. False: not
/// in this text.
bool JsonObjects::Resume(size_t* at) {
  nesting_->damaged = true;
  const size_t begin = *at;
  const size_t next = sink_->FindStart(text_, begin);
  if (next == kNowhere) {
    const size_t seen = text_.size() - std::min(text_.size(), 4 * kLook);
    *at = final_ ? text_.size() : std::max(begin, seen);
    nesting_->cut |= final_;
  } else {
    // With the comma in front, or the bracket and its key, which tell what it
    // is; as far as that is kept when text is given up.
    *at = LastJsonBefore(text_, next);
    const size_t from = std::max(begin + 1, *at - std::min(*at, kLook));
    const std::string_view before = text_.substr(0, *at);
    const size_t close = before.rfind('"');
    if (text_[*at] == '[' && close != kNowhere && close > from) {
      const size_t open = before.rfind('"', close - 1);
      if (open != kNowhere && open >= from) *at = open;
    }
  }
  counters_->Add(Counter::kSkippedBytes, *at - begin);
  return next != kNowhere;
}

/// Enters or takes the object at `brace`, and moves `at` behind what is done
/// with. False: more text is needed, or the object is `broken`.
bool JsonObjects::TakeNext(size_t brace, size_t* at, bool* broken) {
  // Its first key tells what some objects are.
  if (text_.size() - brace < kTextAhead && !final_) return false;
  if (sink_->Enter(text_.substr(*at), brace - *at)) {
    ++nesting_->change;
    ++nesting_->open;
    *at = brace + 1;
    return true;
  }
  const size_t end = EndOf(brace, broken);
  if (end != kNowhere) {
    sink_->Take(text_.substr(brace, end - brace));
    *at = sink_->TakeAlike(text_, end, limit_);
  } else if (*broken) {
    counters_->Add(Counter::kMalformedRecord);
    *at = brace + 1;
  } else if (final_) {
    nesting_->cut = true;
    *at = text_.size();
  }
  return end != kNowhere || (final_ && !*broken);
}

WalkEnd JsonObjects::Walk(std::string_view text, size_t from, size_t limit,
                          bool final, bool lost, JsonNesting* nesting,
                          ImportCounters* counters) {
  using Stop = WalkEnd::Stop;
  text_ = text;
  limit_ = limit;
  final_ = final;
  nesting_ = nesting;
  counters_ = counters;
  origin_ = scanned_ = 0;
  size_t at = from;  // behind what is done with
  bool broken = lost;
  while (true) {
    if (broken) {
      origin_ = scanned_ = 0;  // quotes in it say nothing of what follows
      broken = false;
      if (!Resume(&at))
        return {final ? Stop::kEnd : Stop::kNeedText, at, !final};
    }
    if (at >= limit) return {Stop::kLimit, at, false};
    if (at >= text_.size()) break;
    if (at >= scanned_) Scan(at, kChunk);
    const size_t brace = NextBrace(at);
    broken = HasBad(at, std::min(brace + 1, scanned_));
    if (broken) continue;
    if (brace == scanned_) {
      if (scanned_ == text_.size()) break;
      broken = scanned_ - at > kLongestGap;
      if (!broken) Scan(at, 2 * (scanned_ - at));
    } else if (text_[brace] == '}') {
      --nesting_->change;
      nesting_->open -= nesting_->open > 0 ? 1 : 0;
      sink_->Leave();
      at = brace + 1;
    } else if (!TakeNext(brace, &at, &broken) && !broken) {
      return {Stop::kNeedText, at, false};
    }
  }
  if (final_) return {Stop::kEnd, text_.size(), false};
  return {Stop::kNeedText, at, false};
}

uint32_t WalkJsonObjects(ByteSource* source, Compression compression,
                         const ReadOptions& options, size_t block,
                         JsonObjects* objects, JsonNesting* nesting,
                         ImportCounters* counters) {
  TextBlocks blocks(source, block, options.threads != 1);
  const bool plain = compression == Compression::kPlain;
  uint32_t crc = 0;
  std::string_view text;
  const auto add = [&](std::string_view carry) {
    text = blocks.Next(carry);
    if (!plain) return;
    const std::string_view fresh = text.substr(carry.size());
    crc = Crc32(crc, fresh.data(), fresh.size());
  };
  add({});
  WalkEnd walked;
  while (true) {
    walked = objects->Walk(text, 0, text.size() + 1, blocks.final(),
                           walked.lost, nesting, counters);
    if (blocks.final()) break;
    const size_t carried = text.size() - walked.at;
    add(text.substr(walked.at));
    // A long carry doubles, so that every byte is looked at twice at most.
    while (text.size() < 2 * carried && !blocks.final()) add(text);
    if (options.progress) options.progress(blocks.progress());
  }
  blocks.Finish();
  return plain ? crc : source->DiskCrc32();
}

}  // namespace inferdiff
