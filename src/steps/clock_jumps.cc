// SPDX-License-Identifier: Apache-2.0
#include "steps/clock_jumps.h"

#include <algorithm>

#include "base/checked.h"

namespace inferdiff {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr size_t kLeastLeads = 3;  // of a stretch
constexpr size_t kMostJumps = 32;

/// A launch and the first op that it started.
struct Lead {
  int64_t lead_ns = 0;
  uint32_t op = 0;
};

struct Range {
  int64_t min = INT64_MAX, max = INT64_MIN;
  void Add(int64_t value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  void Add(const Range& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
  int64_t width() const { return SaturatingSub(max, min); }
};

/// From the call's end: one that loads code first lasts for milliseconds. An op
/// that starts while the call lasts has none, one in front of it a negative.
Lead LeadOf(const Trace& trace, size_t call, uint32_t first_op) {
  const int64_t start = trace.ops.start_ns[first_op];
  const int64_t begin = trace.calls.start_ns[call];
  const int64_t end = SaturatingAdd(begin, trace.calls.dur_ns[call]);
  const int64_t before = std::min<int64_t>(SaturatingSub(start, begin), 0);
  const int64_t behind = std::max<int64_t>(SaturatingSub(start, end), 0);
  return {before + behind, first_op};
}

/// In order of the launch calls.
std::vector<Lead> LeadsOf(const Trace& trace) {
  std::vector<uint32_t> first(trace.calls.size(), kNone);
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    const uint32_t launch = trace.ops.launch[i];
    if (launch != kNone && first[launch] == kNone) first[launch] = i;
  }
  std::vector<Lead> leads;
  for (size_t call = 0; call < first.size(); ++call)
    if (first[call] != kNone) leads.push_back(LeadOf(trace, call, first[call]));
  return leads;
}

/// Launches with leads of one level.
struct Stretch {
  size_t first = 0, end = 0;  // of the leads
  Range range;
};

/// From one level to the next; negative where it is lower, 0 where they are not
/// apart.
int64_t Apart(const Range& a, const Range& b) {
  const int64_t up = SaturatingSub(b.min, a.max);
  const int64_t down = SaturatingSub(a.min, b.max);
  const int64_t apart = std::max(up, down);
  if (apart <= kMillisecond || apart / 2 < std::max(a.width(), b.width()))
    return 0;
  return up > 0 ? apart : -apart;
}

/// A stretch that its neighbour is not apart from is part of that.
void Append(const Stretch& stretch, std::vector<Stretch>* to) {
  to->push_back(stretch);
  while (to->size() > 1) {
    const Stretch last = to->back();
    Stretch& before = (*to)[to->size() - 2];
    if (Apart(before.range, last.range) != 0) return;
    before.range.Add(last.range);
    before.end = last.end;
    to->pop_back();
  }
}

std::vector<Stretch> FindStretches(const std::vector<Lead>& leads) {
  std::vector<Stretch> out;
  Stretch now;
  for (size_t i = 0; i < leads.size(); ++i) {
    const int64_t lead = leads[i].lead_ns;
    const bool inside = lead >= now.range.min && lead <= now.range.max;
    if (!inside && i >= now.first + kLeastLeads &&
        i + kLeastLeads <= leads.size()) {
      Range next;
      for (size_t k = i; k < i + kLeastLeads; ++k) next.Add(leads[k].lead_ns);
      if (Apart(now.range, next) != 0) {
        now.end = i;
        Append(now, &out);
        now = {i, i, {}};
      }
    }
    now.range.Add(lead);
  }
  now.end = leads.size();
  Append(now, &out);
  return out;
}

struct Gap {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t length() const { return SaturatingSub(end_ns, begin_ns); }
};

/// The longest time without any op between the starts of two.
Gap LongestGap(const GpuOps& ops, uint32_t from, uint32_t to) {
  Gap longest;
  int64_t busy_until = INT64_MIN;
  for (uint32_t i = 0; i <= to; ++i) {
    const Gap gap = {busy_until, ops.start_ns[i]};
    if (i > from && gap.length() > longest.length()) longest = gap;
    busy_until = std::max(busy_until, ops.end_ns(i));
  }
  return longest;
}

class JumpFinder {
 public:
  explicit JumpFinder(const Trace& trace)
      : ops_(trace.ops),
        leads_(LeadsOf(trace)),
        stretches_(FindStretches(leads_)) {}

  std::vector<Damage> Find() {
    for (size_t k = 1; k < stretches_.size() && out_.size() < kMostJumps; ++k) {
      const int64_t apart = Apart(stretches_[k - 1].range, stretches_[k].range);
      if (apart > 0) {
        Rise(k, apart);
      } else if (IsImpossible(k)) {
        Fall(k);
      } else {
        ForgetStalls(stretches_[k].range);
      }
    }
    return std::move(out_);
  }

 private:
  uint32_t EarliestOp(const Stretch& stretch) const {
    uint32_t op = kNone;  // ops are in order of their starts
    for (size_t i = stretch.first; i < stretch.end; ++i)
      op = std::min(op, leads_[i].op);
    return op;
  }

  // The jump is perhaps within the last replay before: it is not where the
  // leads change.
  void Rise(size_t k, int64_t apart) {
    const uint32_t op = EarliestOp(stretches_[k]);
    const Gap gap = LongestGap(ops_, leads_[stretches_[k].first - 1].op, op);
    if (gap.length() < apart / 2) return;
    rises_.push_back({out_.size(), apart});
    out_.push_back({DamageKind::kClockJump, op, gap.begin_ns, gap.end_ns});
  }

  /// Does the first op of the stretch start before its launch, or in front of
  /// one of the stretch before that was launched earlier on the same lane?
  bool IsImpossible(size_t k) const {
    const Lead& first = leads_[stretches_[k].first];
    if (first.lead_ns < 0) return true;
    const int64_t start = ops_.start_ns[first.op];
    for (size_t i = stretches_[k].first; i-- > stretches_[k - 1].first;) {
      const uint32_t op = leads_[i].op;
      if (ops_.lane[op] == ops_.lane[first.op])
        return SaturatingSub(ops_.start_ns[op], start) > kMillisecond;
    }
    return false;
  }

  void Fall(size_t k) {
    int64_t last_end = INT64_MIN;
    for (size_t i = stretches_[k - 1].first; i < stretches_[k - 1].end; ++i)
      last_end = std::max(last_end, ops_.end_ns(leads_[i].op));
    const uint32_t op = EarliestOp(stretches_[k]);
    const int64_t first_start = ops_.start_ns[op];
    out_.push_back({DamageKind::kClockJump, op, std::min(last_end, first_start),
                    std::max(last_end, first_start)});
    rises_.clear();
  }

  /// Behind a jump no lead is shorter than the jump.
  void ForgetStalls(const Range& now) {
    while (!rises_.empty() && now.min < rises_.back().apart_ns / 2) {
      out_.erase(out_.begin() + static_cast<ptrdiff_t>(rises_.back().index));
      rises_.pop_back();
    }
  }

  struct RiseOf {
    size_t index = 0;  // in out_
    int64_t apart_ns = 0;
  };

  const GpuOps& ops_;
  const std::vector<Lead> leads_;
  const std::vector<Stretch> stretches_;
  std::vector<RiseOf> rises_;  // since the clock last jumped back
  std::vector<Damage> out_;
};

}  // namespace

std::vector<Damage> FindClockJumps(const Trace& trace) {
  return JumpFinder(trace).Find();
}

}  // namespace inferdiff
