// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_extent.h"

#include <algorithm>

#include "readers/kineto_boundary.h"

namespace inferdiff {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

/// An event with more than this is looked through for the start of another
/// one: a brace may be missing.
constexpr size_t kUsualLength = 4096;

/// Objects within objects: more are braces that nobody closed.
constexpr size_t kDeepest = 64;

}  // namespace

/// Scans `length` bytes, or up to the end of the text. Bits behind it are 0.
void ExtentFinder::Scan(size_t at, size_t length) {
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

bool ExtentFinder::HasBadBits(size_t begin, size_t end) const {
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

void ExtentFinder::ScanNext(size_t at) {
  Scan(at, next_);
  next_ = std::min(2 * next_, kChunk);
}

ExtentFinder::Found ExtentFinder::Find(size_t at, Extent* extent) {
  if (at < origin_ || at >= scanned_) ScanNext(at);
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
    if (origin_ == at) {
      Scan(at, 2 * (scanned_ - at));
    } else {
      ScanNext(at);
    }
  }
}

ExtentFinder::Found ExtentFinder::Judge(size_t at, const Extent& extent) const {
  if (HasBadBits(at, extent.end)) return Found::kBroken;
  const size_t length = extent.end - at;
  if (length <= kUsualLength && extent.braces <= Extent::kUsualBraces) {
    return Found::kEvent;
  }
  if (length > kLongestEvent ||
      FindNestedEvent(text_, at, extent.end) != kNowhere) {
    return Found::kBroken;
  }
  return Found::kEvent;
}

}  // namespace inferdiff
