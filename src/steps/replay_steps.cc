// SPDX-License-Identifier: Apache-2.0
#include "steps/replay_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/checked.h"
#include "base/number.h"
#include "steps/period.h"

namespace inferdiff {
namespace {

/// The replays in host order, with what lies between neighbours.
struct Sequence {
  std::vector<uint32_t> replay;  // index in Replays::list
  std::vector<uint32_t> symbol;  // dense number of the signature
  // Between i and i + 1:
  std::vector<uint32_t> waits;  // host syncs on the launching thread
  std::vector<int64_t> gap_ns;  // end to begin on the GPU, at least 0
  size_t size() const { return replay.size(); }
};

/// A run of replays that makes one step.
struct Run {
  size_t begin = 0, end = 0;  // in the sequence
  bool whole = true;          // a full period
};

bool AllLaunched(const Replays& replays) {
  return std::all_of(replays.list.begin(), replays.list.end(),
                     [](const Replay& r) { return r.launch != kNone; });
}

// Syncs so far on the thread of each graph launch, by call index.
std::vector<uint32_t> SyncsBefore(const HostCalls& calls) {
  std::vector<uint32_t> before(calls.size(), 0);
  std::vector<uint32_t> of_thread;
  for (size_t c = 0; c < calls.size(); ++c) {
    const size_t thread = calls.thread[c];
    if (thread >= of_thread.size()) of_thread.resize(thread + 1, 0);
    if (calls.kind[c] == CallKind::kSync) ++of_thread[thread];
    before[c] = of_thread[thread];
  }
  return before;
}

Sequence MakeSequence(const StepInput& in) {
  const std::vector<Replay>& list = in.replays.list;
  const HostCalls& calls = in.trace.calls;
  Sequence out;
  out.replay.resize(list.size());
  std::iota(out.replay.begin(), out.replay.end(), 0U);
  const bool launched = AllLaunched(in.replays);
  if (launched) {
    std::stable_sort(out.replay.begin(), out.replay.end(),
                     [&](uint32_t a, uint32_t b) {
                       return list[a].launch < list[b].launch;
                     });
  }
  std::unordered_map<uint64_t, uint32_t> symbols;
  for (const uint32_t r : out.replay) {
    const auto next = static_cast<uint32_t>(symbols.size());
    out.symbol.push_back(
        symbols.try_emplace(list[r].signature, next).first->second);
  }
  const std::vector<uint32_t> syncs = SyncsBefore(calls);
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    const Replay &a = list[out.replay[i]], &b = list[out.replay[i + 1]];
    const bool known =
        launched && calls.thread[a.launch] == calls.thread[b.launch];
    out.waits.push_back(known ? syncs[b.launch] - syncs[a.launch] : 0);
    out.gap_ns.push_back(
        std::max<int64_t>(0, SaturatingSub(b.begin_ns, a.end_ns)));
  }
  return out;
}

int64_t MedianOf(std::vector<int64_t>& values) {
  if (values.empty()) return 0;
  const auto middle =
      values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Where in the period a step begins, and what said so.
struct Phase {
  size_t offset = 0;  // in the sequence, within the first regular period
  bool by_wait = false;
  bool everywhere = false;  // the host waits before each replay
};

// Position j of the period is a border if the host waits before it about as
// often as before any other; among such the one after the longest typical gap.
Phase FindPhase(const Sequence& s, const Stretch& regular, size_t p) {
  std::vector<size_t> waits(p, 0), seen(p, 0);
  std::vector<std::vector<int64_t>> gaps(p);
  for (size_t i = regular.begin + 1; i < regular.end; ++i) {
    const size_t j = (i - regular.begin) % p;
    ++seen[j];
    waits[j] += s.waits[i - 1] > 0 ? 1 : 0;
    gaps[j].push_back(s.gap_ns[i - 1]);
  }
  std::vector<size_t> rate(p);  // waits per thousand
  for (size_t j = 0; j < p; ++j) rate[j] = waits[j] * 1000 / seen[j];
  const auto [least, most] = std::minmax_element(rate.begin(), rate.end());
  Phase phase;
  phase.by_wait = *most >= 500;
  phase.everywhere = *least >= 900;
  int64_t longest = -1;
  for (size_t j = 0; j < p; ++j) {
    if (phase.by_wait && rate[j] * 10 < *most * 9) continue;
    const int64_t gap = MedianOf(gaps[j]);
    if (gap <= longest) continue;
    longest = gap;
    phase.offset = regular.begin + j;
  }
  return phase;
}

// Cuts at each whole period; what does not fit stays as runs in between, cut
// where the host waits.
std::vector<Run> CutByPattern(const Sequence& s,
                              const std::vector<uint32_t>& pattern) {
  const size_t p = pattern.size();
  const std::vector<bool> match = Occurrences(pattern, s.symbol);
  std::vector<Run> runs;
  for (size_t i = 0; i < s.size();) {
    if (match[i]) {
      runs.push_back({i, i + p, true});
      i += p;
      continue;
    }
    size_t end = i + 1;
    while (end < s.size() && !match[end] && s.waits[end - 1] == 0) ++end;
    runs.push_back({i, end, false});
    i = end;
  }
  return runs;
}

std::vector<Run> CutWhere(const std::vector<bool>& border, size_t n) {
  std::vector<Run> runs;
  size_t begin = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i + 1 < n && !border[i]) continue;
    runs.push_back({begin, i + 1, true});
    begin = i + 1;
  }
  return runs;
}

size_t LargestIn(const StepInput& in, const Sequence& s, const Run& run) {
  size_t best = run.begin;
  for (size_t i = run.begin; i < run.end; ++i) {
    const auto ops = [&](size_t k) {
      const Replay& r = in.replays.list[s.replay[k]];
      return r.ops + r.missing_ops;
    };
    if (ops(i) > ops(best)) best = i;
  }
  return best;
}

// A cut is sensible if a step holds its largest graph once.
bool OneLargestEach(const StepInput& in, const Sequence& s,
                    const std::vector<Run>& runs) {
  size_t good = 0;
  for (const Run& run : runs) {
    const uint32_t main = s.symbol[LargestIn(in, s, run)];
    good += std::count(s.symbol.begin() + static_cast<ptrdiff_t>(run.begin),
                       s.symbol.begin() + static_cast<ptrdiff_t>(run.end),
                       main) == 1
                ? 1
                : 0;
  }
  return runs.size() > 1 && good * 5 >= runs.size() * 4;
}

/// What lies between two given graphs, over all such neighbours.
struct Transition {
  size_t count = 0, waits = 0;
  std::vector<int64_t> gaps;
  int64_t gap_ns = 0;  // median
};

using Transitions = std::map<std::pair<uint32_t, uint32_t>, Transition>;

Transitions CountTransitions(const Sequence& s) {
  Transitions out;
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    Transition& t = out[{s.symbol[i], s.symbol[i + 1]}];
    ++t.count;
    t.waits += s.waits[i] > 0 ? 1 : 0;
    t.gaps.push_back(s.gap_ns[i]);
  }
  for (auto& [pair, t] : out) t.gap_ns = MedianOf(t.gaps);
  return out;
}

// The gap that separates pauses between steps from pauses within: the widest
// ratio between neighbouring medians, at least four. 0 without one.
int64_t GapThreshold(const Transitions& transitions) {
  std::vector<int64_t> gaps;
  for (const auto& [pair, t] : transitions) gaps.push_back(t.gap_ns);
  std::sort(gaps.begin(), gaps.end());
  int64_t threshold = 0, widest = 4;
  for (size_t i = 0; i + 1 < gaps.size(); ++i) {
    // 1 us stands for "no pause": below it ratios are noise.
    const int64_t ratio = gaps[i + 1] / std::max<int64_t>(gaps[i], 1000);
    if (ratio < widest) continue;
    widest = ratio;
    threshold = gaps[i + 1];
  }
  return threshold;
}

/// How the sequence was cut, in words.
struct Cut {
  std::vector<Run> runs;
  std::vector<uint32_t> pattern;  // the graphs of a step, where they repeat
  std::string how;
};

Cut CutEach(const Sequence& s) {
  Cut cut;
  cut.runs = CutWhere(std::vector<bool>(s.size(), true), s.size());
  cut.how = "one replay a step";
  return cut;
}

// Each pair of neighbouring graphs is judged as a whole: border or not.
std::optional<Cut> CutByWaits(const StepInput& in, const Sequence& s,
                              const Transitions& transitions) {
  std::vector<bool> waits(s.size(), false);
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    const Transition& t = transitions.at({s.symbol[i], s.symbol[i + 1]});
    waits[i] = t.waits * 2 > t.count;
  }
  Cut cut;
  cut.runs = CutWhere(waits, s.size());
  cut.how = "cut where the host waits between two graphs";
  if (!OneLargestEach(in, s, cut.runs)) return std::nullopt;
  return cut;
}

// Without a period: drafts vary in number, or the batch changes from step to
// step and the graph with it.
Cut CutByTransitions(const StepInput& in, const Sequence& s) {
  const Transitions transitions = CountTransitions(s);
  if (std::optional<Cut> by_waits = CutByWaits(in, s, transitions)) {
    return std::move(*by_waits);
  }
  const int64_t threshold = GapThreshold(transitions);
  std::vector<bool> pauses(s.size(), false);
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    const Transition& t = transitions.at({s.symbol[i], s.symbol[i + 1]});
    pauses[i] = threshold > 0 && t.gap_ns >= threshold;
  }
  Cut cut;
  cut.runs = CutWhere(pauses, s.size());
  cut.how = "cut where the GPU typically pauses between two graphs";
  if (OneLargestEach(in, s, cut.runs)) return cut;
  return CutEach(s);
}

// Graphs of about one size are passes of their own (batches that take turns),
// where drafts are much smaller than what verifies them.
bool AreAlike(const StepInput& in, const Sequence& s, size_t begin,
              size_t end) {
  uint32_t least = UINT32_MAX, most = 0;
  for (size_t i = begin; i < end; ++i) {
    least = std::min(least, in.replays.list[s.replay[i]].ops);
    most = std::max(most, in.replays.list[s.replay[i]].ops);
  }
  return least >= most / 2;
}

// True if each of the runs is a cycle around the pattern's largest graph, but
// a fifth of them are not the pattern. Then that is no period: drafts vary in
// number, and by chance a few cycles came twice in the same order. The first
// and the last run do not count: the window may have cut them.
bool Varies(const StepInput& in, const Sequence& s, const Cut& cut,
            const Run& pattern) {
  const auto at = [&](size_t i) {
    return s.symbol.begin() + static_cast<ptrdiff_t>(i);
  };
  const uint32_t main = s.symbol[LargestIn(in, s, pattern)];
  size_t other = 0;
  for (size_t k = 1; k + 1 < cut.runs.size(); ++k) {
    const Run& run = cut.runs[k];
    const auto begin = at(run.begin), end = at(run.end);
    if (std::find(begin, end, main) == end) return false;
    const bool same =
        std::equal(begin, end, at(pattern.begin), at(pattern.end));
    other += same ? 0 : 1;
  }
  return other * 5 > cut.runs.size() - 2;
}

Cut FindCut(const StepInput& in, const Sequence& s) {
  const size_t p = PeriodOf(s.symbol);
  if (p == 1 || s.size() == 1) return CutEach(s);
  if (p == 0) return CutByTransitions(in, s);
  const Stretch regular = LongestRegular(s.symbol, p);
  if (regular.end - regular.begin < 2 * p) return CutByTransitions(in, s);
  const Phase phase = FindPhase(s, regular, p);
  if (phase.everywhere && AreAlike(in, s, phase.offset, phase.offset + p)) {
    return CutEach(s);
  }
  Cut cut;
  const auto first = s.symbol.begin() + static_cast<ptrdiff_t>(phase.offset);
  cut.pattern.assign(first, first + static_cast<ptrdiff_t>(p));
  std::optional<Cut> by_waits = CutByWaits(in, s, CountTransitions(s));
  const Run pattern{phase.offset, phase.offset + p};
  if (by_waits && Varies(in, s, *by_waits, pattern)) {
    return std::move(*by_waits);
  }
  cut.runs = CutByPattern(s, cut.pattern);
  cut.how = fmt::format(
      "the sequence of graphs repeats every {} replays; a step begins after {}",
      p, phase.by_wait ? "the host's wait" : "the longest typical pause");
  return cut;
}

// The window's borders cut the first step's head and the last one's tail off;
// a run in the middle that has a step's main graph lacks or gained something.
bool IsIncomplete(const Sequence& s, const Cut& cut, size_t index,
                  bool usual_work) {
  const Run& run = cut.runs[index];
  if (run.whole) return false;
  const size_t n = run.end - run.begin;
  const auto begin = s.symbol.begin() + static_cast<ptrdiff_t>(run.begin);
  const auto end = s.symbol.begin() + static_cast<ptrdiff_t>(run.end);
  const std::vector<uint32_t>& p = cut.pattern;
  if (usual_work) return true;
  if (n > p.size()) return false;
  if (index == 0 &&
      std::equal(begin, end, p.end() - static_cast<ptrdiff_t>(n))) {
    return true;
  }
  return index + 1 == cut.runs.size() && std::equal(begin, end, p.begin());
}

// Why a run is no step to count; leaves the segment usable otherwise.
void JudgeRun(const StepInput& in, const Sequence& s, const Cut& cut,
              size_t index, bool usual_work, Segment& segment) {
  const Run& run = cut.runs[index];
  const Replay& first = in.replays.list[s.replay[run.begin]];
  uint32_t missing = 0;
  for (size_t i = run.begin; i < run.end; ++i) {
    missing += in.replays.list[s.replay[i]].missing_ops;
  }
  if (first.launch == kNone && index + 1 < cut.runs.size() &&
      in.replays.list[s.replay.back()].launch != kNone) {
    segment.excluded_id = "head-cut";
    segment.excluded_why = "it was launched before the trace begins";
  } else if (IsIncomplete(s, cut, index, usual_work)) {
    segment.excluded_id = "incomplete-step";
    segment.excluded_why =
        fmt::format("{} where a step has {}",
                    Plural(static_cast<int64_t>(run.end - run.begin), "replay"),
                    cut.pattern.size());
  } else if (missing > 0) {
    segment.excluded_id = "missing-ops";
    segment.excluded_why =
        fmt::format("{} fewer than in the other replays of its graph",
                    Plural(static_cast<int64_t>(missing), "op"));
  }
}

std::vector<Segment> SegmentsOf(const StepInput& in, const Sequence& s,
                                const Cut& cut) {
  std::vector<uint32_t> work;  // the largest graph of each run
  std::vector<size_t> whole(s.size(), 0);
  for (const Run& run : cut.runs) {
    work.push_back(s.symbol[LargestIn(in, s, run)]);
    whole[work.back()] += run.whole ? 1 : 0;
  }
  const auto usual = static_cast<uint32_t>(
      std::max_element(whole.begin(), whole.end()) - whole.begin());
  std::vector<Segment> segments(cut.runs.size());
  for (size_t k = 0; k < cut.runs.size(); ++k) {
    JudgeRun(in, s, cut, k, work[k] == usual, segments[k]);
  }
  return segments;
}

// From a step's first graph launch to the next step's, in host order, all
// launches are the step's.
std::vector<uint32_t> OwnersOfCalls(const StepInput& in,
                                    const std::vector<uint32_t>& launch) {
  std::vector<uint32_t> of_call(in.trace.calls.size(), kNone);
  uint32_t current = kNone;
  uint32_t next = 0;
  for (uint32_t c = 0; c < of_call.size(); ++c) {
    while (next < launch.size()) {
      if (launch[next] != kNone && launch[next] > c) break;
      if (launch[next] != kNone) current = next;
      ++next;
    }
    of_call[c] = current;
  }
  return of_call;
}

}  // namespace

std::optional<ReplaySteps> FindReplaySteps(const StepInput& in) {
  if (in.replays.list.empty()) return std::nullopt;
  const Sequence s = MakeSequence(in);
  const Cut cut = FindCut(in, s);
  ReplaySteps out;
  out.how = fmt::format("{} graph replay{}: {}", s.size(),
                        s.size() == 1 ? "" : "s", cut.how);
  out.segments = SegmentsOf(in, s, cut);
  out.of_replay.assign(s.size(), kNone);
  out.launch.assign(cut.runs.size(), kNone);
  for (uint32_t k = 0; k < cut.runs.size(); ++k) {
    const Run& run = cut.runs[k];
    out.launch[k] = in.replays.list[s.replay[run.begin]].launch;
    for (size_t i = run.begin; i < run.end; ++i) out.of_replay[s.replay[i]] = k;
  }
  return out;
}

Segmentation SegmentationOf(const StepInput& in, ReplaySteps found) {
  Segmentation steps;
  steps.evidence = Evidence::kGraphReplays;
  steps.how = std::move(found.how);
  steps.segments = std::move(found.segments);
  steps.of_op = OpsOfCalls(in, OwnersOfCalls(in, found.launch));
  for (uint32_t i = 0; i < steps.of_op.size(); ++i) {
    const uint32_t replay = in.replays.of_op[i];
    if (replay != kNone) steps.of_op[i] = found.of_replay[replay];
  }
  return steps;
}

}  // namespace inferdiff
