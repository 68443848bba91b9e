// SPDX-License-Identifier: Apache-2.0
#include "ledger/call_stretches.h"

#include <algorithm>

namespace inferdiff {

void CallStretches::Reset(size_t ops) {
  stretches_.clear();
  open_count_ = 0;
  limit_ = kMostAnOp * ops;
}

void CallStretches::Add(uint32_t position, const CallSegment& segment) {
  if (segment.length_ns() > 0) stretches_.push_back({position, segment});
}

void CallStretches::Share(uint32_t position, int64_t now) {
  if (open_count_ == kMostAtOnce) return;
  open_[open_count_++] = {position, now, 0, Sole::kNo};
  fresh_ = true;
}

void CallStretches::Split(int64_t now, const SharerSet& sharers, Sole sole) {
  const bool changed = sharers.size() != lanes_ || sole != sole_;
  const bool full = stretches_.size() >= limit_;
  for (size_t i = 0; i < open_count_; ++i) {
    Open& open = open_[i];
    if (open.since == now) {
      open.sole = sole;
    } else if (changed && full) {
      open.sole = Sole::kNo;
    } else if (changed) {
      const int64_t dealt = sharers.Dealt(open.position);
      Close(open, now, dealt);
      open = {open.position, now, dealt, sole};
    }
  }
  lanes_ = sharers.size();
  sole_ = sole;
  fresh_ = false;
}

void CallStretches::Close(const Open& open, int64_t now, int64_t dealt) {
  const int64_t attributed = dealt - open.dealt_before;
  Add(open.position, {attributed, 0, now - open.since - attributed, open.sole});
}

void CallStretches::End(uint32_t position, int64_t now, int64_t shared_ns,
                        int64_t attributed_ns) {
  const auto end = open_.begin() + static_cast<ptrdiff_t>(open_count_);
  const auto found = std::find_if(open_.begin(), end, [&](const Open& open) {
    return open.position == position;
  });
  if (found == end) {
    Add(position, {attributed_ns, 0, shared_ns - attributed_ns, Sole::kNo});
    return;
  }
  Close(*found, now, attributed_ns);
  *found = open_[--open_count_];
}

}  // namespace inferdiff
