// SPDX-License-Identifier: Apache-2.0
#include "steps/kernel_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/checked.h"
#include "base/number.h"

namespace inferdiff {
namespace {

// The anchor is looked for among this many ops; it then cuts all of them.
constexpr size_t kSample = 400000;
constexpr size_t kMaxCandidates = 64;

/// The ops of the lane with most work that does not wait, in time order.
struct LaneOps {
  std::vector<uint32_t> op;
  std::vector<NameId> name;
  std::vector<bool> sampling;
  bool any_sampling = false;
  size_t size() const { return op.size(); }
};

LaneOps BusiestLane(const StepInput& in) {
  const GpuOps& ops = in.trace.ops;
  std::vector<int64_t> busy(in.trace.lanes.size(), 0);
  bool only_waits = true;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const bool waits = MayWait(in, i);
    if (waits && !only_waits) continue;
    if (!waits && only_waits) busy.assign(busy.size(), 0);
    only_waits = waits;
    busy[ops.lane[i]] = SaturatingAdd(busy[ops.lane[i]], ops.dur_ns[i]);
  }
  const auto best = static_cast<uint32_t>(
      std::max_element(busy.begin(), busy.end()) - busy.begin());
  LaneOps lane;
  lane.op.reserve(ops.size());
  lane.name.reserve(ops.size());
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.lane[i] != best) continue;
    lane.op.push_back(i);
    lane.name.push_back(ops.name[i]);
    lane.sampling.push_back(in.classes.of_op[i] == Category::kSampling);
    lane.any_sampling = lane.any_sampling || lane.sampling.back();
  }
  return lane;
}

/// Counts of names, cleared in the time that filling took.
class NameCounts {
 public:
  explicit NameCounts(NameId names) : count_(names, 0) {}
  // Sum over names of |count(a) - count(b)|, for two stretches of the lane.
  size_t Difference(const LaneOps& lane, size_t a, size_t a_end, size_t b,
                    size_t b_end) {
    size_t differ = a_end - a;
    for (size_t i = a; i < a_end; ++i) ++count_[lane.name[i]];
    for (size_t i = b; i < b_end; ++i) {
      int32_t& left = count_[lane.name[i]];
      left > 0 ? --differ : ++differ;
      --left;
    }
    for (size_t i = a; i < a_end; ++i) count_[lane.name[i]] = 0;
    for (size_t i = b; i < b_end; ++i) count_[lane.name[i]] = 0;
    return differ;
  }

 private:
  std::vector<int32_t> count_;
};

/// A name that may occur once a step, at these positions of the lane.
struct Anchor {
  std::vector<size_t> at;
  size_t interval = 0;  // median distance
  size_t sampled = 0;   // intervals that hold sampling
};

std::vector<size_t> IntervalsOf(const Anchor& anchor) {
  std::vector<size_t> out;
  for (size_t k = 0; k + 1 < anchor.at.size(); ++k) {
    out.push_back(anchor.at[k + 1] - anchor.at[k]);
  }
  return out;
}

// Cheap tests: the distances are alike and the whole trace is covered. A
// kernel of the forward half of a training pass is regular, but not to the end.
bool IsRegular(Anchor& anchor, size_t n) {
  std::vector<size_t> intervals = IntervalsOf(anchor);
  const auto middle =
      intervals.begin() + static_cast<ptrdiff_t>(intervals.size() / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  const size_t m = anchor.interval = *middle;
  const auto alike = static_cast<size_t>(std::count_if(
      intervals.begin(), intervals.end(),
      [&](size_t d) { return d * 5 >= m * 4 && d * 4 <= m * 5; }));
  const size_t tail = n - anchor.at.back();
  return m > 1 && alike * 5 >= intervals.size() * 4 &&
         anchor.at.front() <= 2 * m && tail <= 2 * m;
}

// Neighbouring intervals hold the same kernels.
bool IsAlike(const Anchor& anchor, const LaneOps& lane, NameCounts& counts) {
  size_t alike = 0, pairs = 0;
  for (size_t k = 0; k + 2 < anchor.at.size(); ++k) {
    const size_t a = anchor.at[k], b = anchor.at[k + 1], c = anchor.at[k + 2];
    ++pairs;
    alike += counts.Difference(lane, a, b, b, c) * 10 <= c - a ? 1 : 0;
  }
  return pairs == 0 || alike * 5 >= pairs * 4;
}

/// Distinct names by whether nearly every interval has them.
struct Company {
  size_t typical = 0, strangers = 0;
};

Company CompanyOf(const Anchor& anchor, const LaneOps& lane, NameId names) {
  std::vector<size_t> intervals(names, 0), last(names, SIZE_MAX);
  std::vector<bool> occurs(names, false);
  for (size_t i = 0; i < lane.size(); ++i) occurs[lane.name[i]] = true;
  for (size_t k = 0; k + 1 < anchor.at.size(); ++k) {
    for (size_t i = anchor.at[k]; i < anchor.at[k + 1]; ++i) {
      if (last[lane.name[i]] == k) continue;
      last[lane.name[i]] = k;
      ++intervals[lane.name[i]];
    }
  }
  Company out;
  for (NameId name = 0; name < names; ++name) {
    if (!occurs[name]) continue;
    const bool typical = intervals[name] * 5 >= (anchor.at.size() - 1) * 4;
    ++(typical ? out.typical : out.strangers);
  }
  return out;
}

// All of a step repeats with it. Where kernels do not, in a trace of one or
// two passes, the interval is a layer: embedding, head and sampling are
// strangers to it. A few strangers are whatever else ran meanwhile.
bool IsLayer(const Anchor& anchor, const LaneOps& lane, NameId names) {
  const Company company = CompanyOf(anchor, lane, names);
  return company.strangers * 20 > company.typical;
}

size_t CountSampled(const Anchor& anchor, const LaneOps& lane) {
  size_t sampled = 0;
  for (size_t k = 0; k + 1 < anchor.at.size(); ++k) {
    for (size_t i = anchor.at[k]; i < anchor.at[k + 1]; ++i) {
      if (!lane.sampling[i]) continue;
      ++sampled;
      break;
    }
  }
  return sampled;
}

// Names by how often they occur: those of a step share one count. One name a
// count, the first, for the counts that most names share.
std::vector<std::vector<size_t>> Candidates(const LaneOps& lane, NameId names) {
  std::vector<std::vector<size_t>> at(names);
  for (size_t i = 0; i < lane.size(); ++i) at[lane.name[i]].push_back(i);
  struct Class {
    size_t names = 0, first = 0;
    NameId name = 0;
  };
  std::map<size_t, Class> classes;  // by count
  for (NameId name = 0; name < names; ++name) {
    if (at[name].size() < 2) continue;
    auto [it, added] = classes.try_emplace(at[name].size());
    Class& c = it->second;
    ++c.names;
    if (!added && at[name].front() >= c.first) continue;
    c.first = at[name].front();
    c.name = name;
  }
  std::vector<Class> order;
  for (const auto& [count, c] : classes) order.push_back(c);
  std::stable_sort(
      order.begin(), order.end(),
      [](const Class& a, const Class& b) { return a.names > b.names; });
  if (order.size() > kMaxCandidates) order.resize(kMaxCandidates);
  std::vector<std::vector<size_t>> out;
  for (const Class& c : order) out.push_back(std::move(at[c.name]));
  return out;
}

// With sampling known, the shortest interval that always holds it is the step;
// without, the longest one that repeats three times.
bool Better(const Anchor& a, const Anchor& b, bool by_sampling) {
  return by_sampling ? a.at.size() > b.at.size() : a.at.size() < b.at.size();
}

std::optional<Anchor> FindAnchor(const LaneOps& lane, NameId names) {
  std::optional<Anchor> best;
  NameCounts counts(names);
  for (std::vector<size_t>& at : Candidates(lane, names)) {
    Anchor anchor;
    anchor.at = std::move(at);
    if (!IsRegular(anchor, lane.size())) continue;
    if (best && !Better(anchor, *best, lane.any_sampling)) continue;
    if (lane.any_sampling) {
      anchor.sampled = CountSampled(anchor, lane);
      if (anchor.sampled * 5 < (anchor.at.size() - 1) * 4) continue;
    } else if (anchor.at.size() < 3) {
      continue;
    }
    if (!IsAlike(anchor, lane, counts)) continue;
    if (!lane.any_sampling && IsLayer(anchor, lane, names)) continue;
    best = std::move(anchor);
  }
  return best;
}

// Distance of the step's border from the anchor: before the op that most often
// follows the interval's longest pause, else behind the last sampling.
ptrdiff_t FindBorder(const StepInput& in, const LaneOps& lane,
                     const Anchor& anchor) {
  const GpuOps& ops = in.trace.ops;
  std::map<size_t, size_t> pauses, samplings;
  size_t intervals = 0;
  for (size_t k = 0; k + 1 < anchor.at.size(); ++k) {
    if (anchor.at[k + 1] - anchor.at[k] != anchor.interval) continue;
    ++intervals;
    size_t pause = 0, sampling = SIZE_MAX;
    int64_t longest = 0;
    for (size_t j = 0; j < anchor.interval; ++j) {
      const size_t i = anchor.at[k] + j;
      if (lane.sampling[i]) sampling = j;
      if (i == 0) continue;
      const int64_t gap =
          SaturatingSub(ops.start_ns[lane.op[i]], ops.end_ns(lane.op[i - 1]));
      if (gap <= longest) continue;
      longest = gap;
      pause = j;
    }
    ++pauses[pause];
    if (sampling != SIZE_MAX) ++samplings[(sampling + 1) % anchor.interval];
  }
  const auto most = [](const std::map<size_t, size_t>& votes) {
    return *std::max_element(
        votes.begin(), votes.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
  };
  size_t offset = 0;
  if (!pauses.empty() && most(pauses).second * 2 >= intervals) {
    offset = most(pauses).first;
  } else if (!samplings.empty()) {
    offset = most(samplings).first;
  }
  const auto signed_offset = static_cast<ptrdiff_t>(offset);
  return offset * 2 <= anchor.interval
             ? signed_offset
             : signed_offset - static_cast<ptrdiff_t>(anchor.interval);
}

// First positions of the segments. What lies in front of the first border is a
// segment too.
std::vector<size_t> BordersOf(const LaneOps& lane, const Anchor& anchor,
                              ptrdiff_t offset) {
  std::vector<size_t> out = {0};
  for (const size_t anchor_at : anchor.at) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(anchor_at) + offset;
    if (at > 0 && static_cast<size_t>(at) < lane.size()) {
      out.push_back(static_cast<size_t>(at));
    }
  }
  return out;
}

// Other lanes: by the launches of the lane's segments, else by time.
void AssignOtherLanes(const StepInput& in, const LaneOps& lane,
                      const std::vector<size_t>& borders,
                      std::vector<uint32_t>& of_op) {
  std::vector<uint32_t> first_call;
  for (const size_t at : borders) {
    const uint32_t call = in.trace.ops.launch[lane.op[at]];
    if (call == kNone) return;
    if (!first_call.empty() && call < first_call.back()) return;
    first_call.push_back(call);
  }
  for (uint32_t i = 0; i < in.trace.ops.size(); ++i) {
    const uint32_t call = in.trace.ops.launch[i];
    if (of_op[i] != kByTime || call == kNone) continue;
    const auto after =
        std::upper_bound(first_call.begin(), first_call.end(), call);
    of_op[i] = after == first_call.begin()
                   ? kNone
                   : static_cast<uint32_t>(after - first_call.begin() - 1);
  }
}

// Gives the lane's ops to their segments; names the cut ends.
void FillSegments(const LaneOps& lane, const std::vector<size_t>& borders,
                  size_t interval, Segmentation& steps) {
  steps.segments.resize(borders.size());
  for (size_t k = 0; k < borders.size(); ++k) {
    const bool last = k + 1 == borders.size();
    const size_t end = last ? lane.size() : borders[k + 1];
    const size_t n = end - borders[k];
    for (size_t i = borders[k]; i < end; ++i) {
      steps.of_op[lane.op[i]] = static_cast<uint32_t>(k);
    }
    const bool cut = ((k == 0 || last) && n * 10 < interval * 9) ||
                     (k == 0 && n * 10 > interval * 11);
    if (!cut) continue;
    steps.segments[k].excluded_id = "incomplete-step";
    steps.segments[k].excluded_why =
        fmt::format("{} where a step has about {}",
                    Plural(static_cast<int64_t>(n), "op"), interval);
  }
}

}  // namespace

std::optional<Segmentation> FindKernelSteps(const StepInput& in) {
  if (in.trace.ops.size() == 0) return std::nullopt;
  LaneOps lane = BusiestLane(in);
  const NameId names = in.trace.names->size();
  LaneOps head;
  if (lane.size() > kSample) {
    head = lane;
    head.op.resize(kSample);
    head.name.resize(kSample);
    head.sampling.resize(kSample);
  }
  const LaneOps& sample = lane.size() > kSample ? head : lane;
  std::optional<Anchor> anchor = FindAnchor(sample, names);
  if (!anchor) return std::nullopt;
  const ptrdiff_t offset = FindBorder(in, sample, *anchor);
  const NameId name = lane.name[anchor->at.front()];
  for (size_t i = sample.size(); i < lane.size(); ++i) {
    if (lane.name[i] == name) anchor->at.push_back(i);
  }
  const std::vector<size_t> borders = BordersOf(lane, *anchor, offset);

  Segmentation steps;
  steps.evidence = Evidence::kKernelPeriod;
  steps.how = fmt::format(
      "the kernel sequence repeats about every {} ops, {} times; {}",
      anchor->interval, anchor->at.size(),
      lane.any_sampling ? "each time with its sampling"
                        : "no longer stretch repeats, so it is no layer");
  steps.of_op.assign(in.trace.ops.size(), kByTime);
  FillSegments(lane, borders, anchor->interval, steps);
  AssignOtherLanes(in, lane, borders, steps.of_op);
  return steps;
}

}  // namespace inferdiff
