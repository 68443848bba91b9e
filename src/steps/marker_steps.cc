// SPDX-License-Identifier: Apache-2.0
#include "steps/marker_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/checked.h"
#include "steps/markers.h"

namespace inferdiff {
namespace {

constexpr int64_t kForever = INT64_MAX;

/// One marker of the family, without those nested in it.
struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint32_t where = 0;  // thread or lane
  NameId name = 0;
  MarkerMatch match;
  uint32_t unit = 0;  // windows of one cycle share it
};

/// The markers of one family, and what they launch.
struct MarkerFamily {
  std::string name;
  bool generic = false, opens = false;
  std::vector<Window> windows;  // by begin
  uint32_t units = 0;
  std::vector<uint32_t> of_call;  // unit by host call
  std::vector<uint32_t> window_of_call;
  uint32_t launching = 0;  // units that launch something
  uint32_t sampling = 0;   // units that launch sampling
  int64_t covered_ns = 0;  // durations of the ops launched inside
  int64_t length_ns = 0;   // of the windows: nesting order
  bool usable = false;
};

// Matches each distinct text once.
class Matcher {
 public:
  explicit Matcher(const StringPool& names) : names_(names) {}
  const std::optional<MarkerMatch>& Of(NameId name) {
    auto [it, added] = cache_.try_emplace(name);
    if (added) it->second = MarkerRules::Builtin().Match(names_[name]);
    return it->second;
  }

 private:
  const StringPool& names_;
  std::unordered_map<NameId, std::optional<MarkerMatch>> cache_;
};

// Annotations come by (start, longest first), so a nested one follows the one
// around it. A partial overlap can only be damage: the later one wins.
void AddWindow(const Window& window, std::vector<Window>& out,
               std::unordered_map<uint32_t, size_t>& open) {
  const auto [it, first] = open.try_emplace(window.where, out.size());
  if (!first) {
    Window& before = out[it->second];
    if (window.end_ns <= before.end_ns && window.begin_ns < before.end_ns) {
      return;
    }
    before.end_ns = std::min(before.end_ns, window.begin_ns);
    it->second = out.size();
  }
  out.push_back(window);
}

std::vector<MarkerFamily> CollectFamilies(const Trace& trace, bool on_gpu) {
  const auto& rules = MarkerRules::Builtin().rules();
  Matcher matcher(*trace.names);
  std::map<std::string, MarkerFamily> families;
  std::map<std::string, std::unordered_map<uint32_t, size_t>> open;
  for (const Annotation& a : trace.annotations) {
    if (a.on_gpu != on_gpu) continue;
    const auto& match = matcher.Of(a.name);
    if (!match) continue;
    const MarkerRule& rule = rules[match->rule];
    MarkerFamily& family = families[rule.family];
    family.name = rule.family;
    family.generic = rule.generic;
    family.opens = rule.opens;
    AddWindow({a.start_ns, SaturatingAdd(a.start_ns, a.dur_ns), a.where, a.name,
               *match, 0},
              family.windows, open[rule.family]);
  }
  std::vector<MarkerFamily> out;
  for (auto& [name, family] : families) out.push_back(std::move(family));
  return out;
}

// Draft work is part of the cycle of the step it comes after or before on its
// thread; with no such step it stays one of its own.
void NumberUnits(MarkerFamily& family) {
  const auto& rules = MarkerRules::Builtin().rules();
  struct Last {
    uint32_t unit = kNone;
    bool waits = false;  // a draft whose step has not come yet
  };
  std::unordered_map<uint32_t, Last> last;
  for (Window& window : family.windows) {
    const MarkerJoins joins = rules[window.match.rule].joins;
    Last& before = last[window.where];
    const bool continues =
        before.unit != kNone && (joins == MarkerJoins::kPrevious ||
                                 (before.waits && joins != MarkerJoins::kNext));
    if (!continues && !(before.waits && joins == MarkerJoins::kNext)) {
      before.unit = family.units++;
    }
    before.waits = joins == MarkerJoins::kNext;
    window.unit = before.unit;
    family.length_ns = SaturatingAdd(
        family.length_ns, SaturatingSub(window.end_ns, window.begin_ns));
  }
}

/// Finds the window of a launch: on a thread with markers the one that is open
/// there; on another thread (autograd's, a forward thread) the window
/// open in its process.
class LaunchOwner {
 public:
  LaunchOwner(const Trace& trace, const MarkerFamily& family)
      : trace_(trace), cursors_(trace.threads.size()) {
    std::vector<bool> marked(trace.threads.size(), false);
    std::map<std::string, std::vector<uint32_t>> of_process;
    std::vector<std::vector<uint32_t>> of_thread(trace.threads.size());
    for (uint32_t i = 0; i < family.windows.size(); ++i) {
      const uint32_t thread = family.windows[i].where;
      if (thread >= trace.threads.size()) continue;
      marked[thread] = true;
      of_thread[thread].push_back(i);
      of_process[trace.threads[thread].process].push_back(i);
    }
    std::map<std::string, size_t> list_of_process;
    for (auto& [process, windows] : of_process) {
      list_of_process[process] = lists_.size();
      lists_.push_back(std::move(windows));
    }
    for (size_t t = 0; t < trace.threads.size(); ++t) {
      if (marked[t]) {
        cursors_[t].list = lists_.size();
        lists_.push_back(std::move(of_thread[t]));
        continue;
      }
      const auto found = list_of_process.find(trace.threads[t].process);
      if (found != list_of_process.end()) cursors_[t].list = found->second;
    }
    windows_ = &family.windows;
  }

  // Calls must come in order of start.
  uint32_t Of(uint32_t call) {
    const size_t thread = trace_.calls.thread[call];
    if (thread >= cursors_.size() || cursors_[thread].list == kNoList) {
      return kNone;
    }
    Cursor& cursor = cursors_[thread];
    const std::vector<uint32_t>& list = lists_[cursor.list];
    const int64_t at = trace_.calls.start_ns[call];
    while (cursor.next < list.size() &&
           (*windows_)[list[cursor.next]].begin_ns <= at) {
      ++cursor.next;
    }
    if (cursor.next == 0) return kNone;
    const uint32_t window = list[cursor.next - 1];
    return at < (*windows_)[window].end_ns ? window : kNone;
  }

 private:
  static constexpr size_t kNoList = SIZE_MAX;
  struct Cursor {
    size_t list = kNoList;
    size_t next = 0;
  };
  const Trace& trace_;
  const std::vector<Window>* windows_ = nullptr;
  std::vector<Cursor> cursors_;
  std::vector<std::vector<uint32_t>> lists_;
};

// Sums what the family's units launch.
void Measure(const StepInput& in, MarkerFamily& family) {
  LaunchOwner owner(in.trace, family);
  const size_t calls = in.trace.calls.size();
  family.of_call.assign(calls, kNone);
  family.window_of_call.assign(calls, kNone);
  for (uint32_t c = 0; c < calls; ++c) {
    const uint32_t window = owner.Of(c);
    if (window == kNone) continue;
    family.window_of_call[c] = window;
    family.of_call[c] = family.windows[window].unit;
  }
  std::vector<uint8_t> seen(family.units, 0);  // 1 launches, 2 also sampling
  family.covered_ns = 0;
  const GpuOps& ops = in.trace.ops;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.launch[i] == kNone) continue;
    const uint32_t unit = family.of_call[ops.launch[i]];
    if (unit == kNone) continue;
    family.covered_ns = SaturatingAdd(family.covered_ns, ops.dur_ns[i]);
    const bool sampling = in.classes.of_op[i] == Category::kSampling;
    seen[unit] = std::max<uint8_t>(seen[unit], sampling ? 3 : 1);
  }
  const auto count = [&](uint8_t bit) {
    return static_cast<uint32_t>(std::count_if(
        seen.begin(), seen.end(), [&](uint8_t s) { return (s & bit) != 0; }));
  };
  family.launching = count(1);
  family.sampling = count(2);
}

// Each window lasts to the next one's begin on its thread.
void ExtendToNext(MarkerFamily& family) {
  std::unordered_map<uint32_t, size_t> next;
  for (size_t i = family.windows.size(); i-- > 0;) {
    Window& window = family.windows[i];
    const auto [it, last] = next.try_emplace(window.where, i);
    window.end_ns = last ? kForever : family.windows[it->second].begin_ns;
    it->second = i;
  }
}

// Linked durations in all, and those of sampling.
struct Linked {
  int64_t all_ns = 0, total_ns = 0;
  uint32_t sampling_ops = 0;
};

Linked CountLinked(const StepInput& in) {
  Linked out;
  const GpuOps& ops = in.trace.ops;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    out.total_ns = SaturatingAdd(out.total_ns, ops.dur_ns[i]);
    if (ops.launch[i] == kNone) continue;
    out.all_ns = SaturatingAdd(out.all_ns, ops.dur_ns[i]);
    if (in.classes.of_op[i] == Category::kSampling) ++out.sampling_ops;
  }
  return out;
}

// The markers must launch most of what has a launch record, and that must be
// more than a prologue: engines exist whose graphs come out as one burst
// without any record, long after the markers.
bool LaunchesTheWork(const MarkerFamily& family, const Linked& linked) {
  return family.launching > 0 && family.covered_ns >= linked.all_ns / 2 &&
         linked.all_ns >= linked.total_ns / 10;
}

// An engine that samples after its marker closes does so after nearly each.
bool SamplesOutside(const MarkerFamily& family, const Linked& linked) {
  return family.sampling * 2 < family.launching &&
         linked.sampling_ops >= family.launching / 2 + 1;
}

// True if `a` is the better family: sampling inside, then the outermost, but
// not one whose marker spans several passes of the other.
bool Better(const MarkerFamily& a, const MarkerFamily& b) {
  if (a.generic != b.generic) return b.generic;
  if (a.launching * 3 < b.launching * 2) return false;
  if (b.launching * 3 < a.launching * 2) return true;
  const bool a_samples = a.sampling * 2 >= a.launching;
  const bool b_samples = b.sampling * 2 >= b.launching;
  if (a_samples != b_samples) return a_samples;
  return a.length_ns > b.length_ns;
}

const MarkerFamily* Choose(const std::vector<MarkerFamily>& families) {
  const MarkerFamily* best = nullptr;
  for (const MarkerFamily& family : families) {
    if (!family.usable) continue;
    if (best == nullptr || Better(family, *best)) best = &family;
  }
  return best;
}

// A cycle is named by its own step, not by the draft work in it.
std::vector<Segment> SegmentsOf(const Trace& trace,
                                const MarkerFamily& family) {
  std::vector<Segment> segments(family.units);
  std::vector<bool> named(family.units, false);
  const auto& rules = MarkerRules::Builtin().rules();
  for (const Window& window : family.windows) {
    const bool own = rules[window.match.rule].joins == MarkerJoins::kNothing;
    Segment& segment = segments[window.unit];
    if (!segment.marker.empty() && (named[window.unit] || !own)) continue;
    named[window.unit] = own;
    segment.shape = window.match.shape;
    segment.marker = std::string((*trace.names)[window.name]);
  }
  return segments;
}

bool IsDraft(const Window& window) {
  return MarkerRules::Builtin().rules()[window.match.rule].joins !=
         MarkerJoins::kNothing;
}

// Which ops were launched within a marker of draft work.
std::vector<uint8_t> DraftsOf(const Trace& trace, const MarkerFamily& family) {
  const std::vector<Window>& windows = family.windows;
  std::vector<uint8_t> out;
  if (std::none_of(windows.begin(), windows.end(), IsDraft)) return out;
  out.assign(trace.ops.size(), 0);
  for (uint32_t i = 0; i < out.size(); ++i) {
    const uint32_t launch = trace.ops.launch[i];
    if (launch == kNone) continue;
    const uint32_t window = family.window_of_call[launch];
    out[i] = window != kNone && IsDraft(windows[window]) ? 1 : 0;
  }
  return out;
}

std::string Plural(size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string HowHost(const MarkerFamily& family, bool extended) {
  std::string how = fmt::format(
      "{} of the family {} bound the launches; correlation carries them to "
      "the GPU",
      Plural(family.windows.size(), "marker"), family.name);
  if (family.units < family.windows.size()) {
    how += fmt::format("; with their draft work they are {}",
                       Plural(family.units, "cycle"));
  }
  if (extended) {
    how +=
        "; what is launched between two markers belongs to the first, since "
        "sampling is launched there";
  }
  if (family.launching < family.units) {
    how += fmt::format("; {} launched nothing that was recorded",
                       family.units - family.launching);
  }
  return how;
}

std::optional<Segmentation> FromHost(const StepInput& in,
                                     std::vector<MarkerFamily>& families,
                                     MarkerSteps& out) {
  const Linked linked = CountLinked(in);
  std::vector<bool> extended(families.size(), false);
  for (size_t f = 0; f < families.size(); ++f) {
    MarkerFamily& family = families[f];
    NumberUnits(family);
    if (family.opens) ExtendToNext(family);
    Measure(in, family);
    family.usable = LaunchesTheWork(family, linked);
  }
  const MarkerFamily* best = Choose(families);
  if (best == nullptr) {
    for (const MarkerFamily& family : families) {
      if (family.generic) continue;
      out.unused = fmt::format(
          "{} of the family {} launch too little of the recorded work to "
          "bound steps",
          Plural(family.windows.size(), "marker"), family.name);
    }
    return std::nullopt;
  }
  MarkerFamily& family = families[static_cast<size_t>(best - families.data())];
  bool extend = !family.generic && !family.opens;
  if (extend && (extend = SamplesOutside(family, linked))) {
    ExtendToNext(family);
    Measure(in, family);
  }
  out.generic = family.generic;
  Segmentation steps;
  steps.evidence = Evidence::kMarkers;
  steps.how = HowHost(family, extend || family.opens);
  steps.segments = SegmentsOf(in.trace, family);
  steps.of_op = OpsOfCalls(in, family.of_call);
  steps.drafts = DraftsOf(in.trace, family);
  return steps;
}

// The lane that the family's ranges cover longest.
uint32_t LongestCovered(const MarkerFamily& family) {
  std::map<uint32_t, int64_t> covered;
  for (const Window& window : family.windows) {
    int64_t& sum = covered[window.where];
    sum = SaturatingAdd(sum, SaturatingSub(window.end_ns, window.begin_ns));
  }
  return std::max_element(
             covered.begin(), covered.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Each op goes to the last window that began before it; nobody's after the
// last one's end.
std::vector<uint32_t> OpsOfRanges(const Trace& trace,
                                  const std::vector<Window>& windows,
                                  int64_t last_end) {
  std::vector<uint32_t> of_op(trace.ops.size(), kNone);
  size_t next = 0;
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    const int64_t at = trace.ops.start_ns[i];
    while (next < windows.size() && windows[next].begin_ns <= at) ++next;
    if (next > 0 && at < last_end) of_op[i] = windows[next - 1].unit;
  }
  return of_op;
}

std::optional<Segmentation> FromGpu(const StepInput& in,
                                    std::vector<MarkerFamily>& families,
                                    MarkerSteps& out) {
  for (MarkerFamily& family : families) {
    NumberUnits(family);
    family.launching = family.units;
    family.usable = true;
  }
  const MarkerFamily* const best = Choose(families);
  if (best == nullptr) return std::nullopt;
  const uint32_t lane = LongestCovered(*best);
  int64_t last_end = INT64_MIN;
  MarkerFamily chosen;
  for (const Window& window : best->windows) {
    last_end = std::max(last_end, window.end_ns);
    if (window.where == lane) chosen.windows.push_back(window);
  }
  NumberUnits(chosen);
  out.generic = best->generic;
  Segmentation steps;
  steps.evidence = Evidence::kMarkers;
  steps.how = fmt::format(
      "{} of the family {} on the GPU's lane \"{}\": the trace has none on "
      "the host",
      Plural(chosen.windows.size(), "range"), best->name,
      in.trace.lanes[lane].label);
  steps.segments = SegmentsOf(in.trace, chosen);
  steps.of_op = OpsOfRanges(in.trace, chosen.windows, last_end);
  return steps;
}

}  // namespace

MarkerSteps FindMarkerSteps(const StepInput& in) {
  MarkerSteps out;
  std::vector<MarkerFamily> host = CollectFamilies(in.trace, false);
  if (!host.empty()) {
    out.steps = FromHost(in, host, out);
    return out;
  }
  std::vector<MarkerFamily> gpu = CollectFamilies(in.trace, true);
  if (!gpu.empty()) out.steps = FromGpu(in, gpu, out);
  return out;
}

std::vector<uint32_t> OpsOfCalls(const StepInput& in,
                                 const std::vector<uint32_t>& of_call) {
  const GpuOps& ops = in.trace.ops;
  std::vector<uint32_t> of_op(ops.size(), kByTime);
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.launch[i] != kNone) of_op[i] = of_call[ops.launch[i]];
  }
  return of_op;
}

}  // namespace inferdiff
