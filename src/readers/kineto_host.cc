// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_host.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/memory.h"
#include "base/parallel.h"
#include "readers/launch_tally.h"
#include "readers/repeated_records.h"

namespace inferdiff {
namespace {

bool IsSameCall(const NameTable& names, const EventRecord* a,
                const EventRecord* b) {
  return a->dur_ns == b->dur_ns && (a->dur_ns > 0 || a->correlation != 0) &&
         a->correlation == b->correlation && a->track == b->track &&
         a->kind == b->kind && names.AreSame(a->name, b->name);
}

bool CanLaunch(CallKind kind) {
  return kind != CallKind::kSync && kind != CallKind::kAlloc;
}

RangeKind KindOfRange(const EventRecord& range) {
  return static_cast<RangeKind>(range.kind);
}

/// Calls that are kept although they launch nothing here.
bool LaunchesNothing(CallKind kind) {
  return kind == CallKind::kGraphLaunch || kind == CallKind::kSync ||
         kind == CallKind::kAlloc;
}

void FillTimes(const std::vector<const EventRecord*>& calls,
               const std::vector<uint8_t>& kept, size_t count, HostCalls* out) {
  out->start_ns.reserve(count);
  out->dur_ns.reserve(count);
  out->correlation.reserve(count);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (kept[i] == 0) continue;
    out->start_ns.push_back(calls[i]->start_ns);
    out->dur_ns.push_back(calls[i]->dur_ns);
    out->correlation.push_back(calls[i]->correlation);
  }
}

}  // namespace

void HostSide::Collect() {
  std::vector<size_t> calls_on(tracks_.tracks().size(), 0);
  for (const StoredBatch& batch : batches_) {
    for (const EventRecord& call : batch.calls) ++calls_on[call.track];
  }
  using CallOrder = RecordOrder<const EventRecord*>;
  std::map<std::string_view, CallOrder> orders;
  std::vector<CallOrder*> order_of_track(calls_on.size(), nullptr);
  std::map<std::string_view, size_t> sizes;
  for (size_t i = 0; i < calls_on.size(); ++i) {
    if (calls_on[i] == 0) continue;
    const std::string_view scope = tracks_.tracks()[i].scope;
    sizes[scope] += calls_on[i];
    order_of_track[i] = &orders[scope];
  }
  for (auto& [scope, order] : orders) order.Reserve(sizes[scope]);
  for (const StoredBatch& batch : batches_) {
    for (const EventRecord& call : batch.calls) {
      order_of_track[call.track]->Add(call);
    }
  }
  for (auto& [name, order] : orders) {
    SortByTime(&order, [](const EventRecord& a, const EventRecord& b) {
      return a.ordinal() < b.ordinal();
    });
    Free(&order.start_ns);
    Scope& scope = scopes_[name];
    scope.calls = std::move(order.record);
    DropRepeated(
        &scope.calls, [](const EventRecord* call) { return call->start_ns; },
        [this](const EventRecord* a, const EventRecord* b) {
          return IsSameCall(names_, a, b);
        });
    scope.answered.assign(scope.calls.size(), 0);
    scope.launches.Reserve(scope.calls.size());
    scope.tracks.reserve(scope.calls.size());
    scope.kinds.reserve(scope.calls.size());
    for (const EventRecord* call : scope.calls) {
      const auto kind = static_cast<CallKind>(call->kind);
      if (kind == CallKind::kGraphLaunch) ++graph_launches_;
      if (CanLaunch(kind) && call->correlation != 0) {
        scope.launches.Add(call->correlation,
                           static_cast<uint32_t>(scope.kinds.size()));
      }
      scope.tracks.push_back(call->track);
      scope.kinds.push_back(kind);
    }
    scope.duplicates = scope.launches.Finish();
  }
}

/// Where calls of several processes have one correlation, as in files that were
/// merged from several ranks: if all ops whose launch is certain are of one
/// process, those of the others are not meant. Returns how many ops are left of
/// which that is not known.
int64_t HostSide::LinkRepeated(const Scope& scope, GpuOps* ops) const {
  const auto repeated = [&](size_t op) {
    return scope.launches.IsRepeated(ops->correlation[op]);
  };
  std::set<std::string_view> certain;
  int64_t ambiguous = 0;
  for (size_t op = 0; op < ops->size(); ++op) {
    if (repeated(op)) {
      ++ambiguous;
    } else if (ops->launch[op] != kNone) {
      certain.insert(TrackOf(scope.calls[ops->launch[op]]).pid);
    }
  }
  if (certain.size() != 1) return ambiguous;
  LaunchIndex own;
  for (size_t i = 0; i < scope.calls.size(); ++i) {
    if (CanLaunch(scope.kinds[i]) &&
        TrackOf(scope.calls[i]).pid == *certain.begin() &&
        scope.launches.IsRepeated(scope.calls[i]->correlation))
      own.Add(scope.calls[i]->correlation, static_cast<uint32_t>(i));
  }
  own.Finish();
  size_t near = 0;
  for (size_t op = 0; op < ops->size(); ++op) {
    const int64_t correlation = ops->correlation[op];
    if (!repeated(op) || own.IsRepeated(correlation)) continue;
    const uint32_t call = own.Find(correlation, &near);
    if (call == kNone) continue;
    ops->launch[op] = call;
    --ambiguous;
  }
  return ambiguous;
}

/// Sets `launch` of the ops to indices in the scope's calls; returns which of
/// those are meant.
std::vector<uint8_t> HostSide::LinkOps(Scope* scope, Trace* trace) {
  std::vector<uint8_t> linked(scope->calls.size(), 0);
  GpuOps& ops = trace->ops;
  ops.launch.reserve(ops.size());
  size_t near = 0;
  for (const int64_t correlation : ops.correlation) {
    const uint32_t call =
        correlation == 0 ? kNone : scope->launches.Find(correlation, &near);
    ops.launch.push_back(call);
    if (call == kNone) counters_.Add(Counter::kUnlinkedOp);
  }
  if (scope->launches.CountRepeated(ops.correlation) > 0)
    trace->capture.ambiguous_ops = LinkRepeated(*scope, &ops);
  for (const uint32_t call : ops.launch)
    if (call != kNone) linked[call] = scope->answered[call] = 1;
  return linked;
}

/// Calls that launch nothing, and host ranges, belong to the processes that
/// launched this trace's ops; without such a process they belong to everybody.
void HostSide::FindProcesses(const Scope& scope,
                             const std::vector<uint8_t>& linked) {
  processes_.clear();
  std::vector<bool> used(tracks_.tracks().size(), false);
  for (size_t i = 0; i < linked.size(); ++i) {
    if (linked[i] != 0) used[scope.tracks[i]] = true;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) processes_.insert(tracks_.tracks()[i].pid);
  }
}

bool HostSide::IsOurs(uint32_t track) const {
  return processes_.empty() ||
         processes_.count(tracks_.tracks()[track].pid) != 0;
}

/// Numbers the threads of the calls and ranges that are kept.
void HostSide::FillThreads(const TraceKey& key, const Scope& scope,
                           const std::vector<uint8_t>& kept, Trace* trace) {
  std::vector<bool> used(tracks_.tracks().size(), false);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] != 0) used[scope.tracks[i]] = true;
  }
  for (const StoredBatch& batch : batches_) {
    for (const EventRecord& range : batch.annotations) {
      if (KindOfRange(range) == RangeKind::kHost &&
          TrackOf(&range).scope == key.scope && IsOurs(range.track)) {
        used[range.track] = true;
      }
    }
  }
  thread_of_track_.assign(used.size(), kNone);
  constexpr size_t kMost = 65535;  // the last one stands for all beyond
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    thread_of_track_[i] =
        static_cast<uint32_t>(std::min(trace->threads.size(), kMost));
    if (trace->threads.size() > kMost) continue;
    const Track& track = tracks_.tracks()[i];
    trace->threads.push_back({track.pid, track.tid});
  }
}

void HostSide::FillCalls(const TraceKey& key, unsigned threads, Trace* trace) {
  Scope& scope = scopes_[key.scope];
  counters_.Add(Counter::kDuplicateCorrelation,
                std::exchange(scope.duplicates, 0));
  std::vector<uint8_t> kept = LinkOps(&scope, trace);
  FindProcesses(scope, kept);
  launchers_.push_back({key.scope, processes_});
  size_t count = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (LaunchesNothing(scope.kinds[i]) && IsOurs(scope.tracks[i])) kept[i] = 1;
    count += kept[i];
  }
  FillThreads(key, scope, kept, trace);
  RunBoth(
      threads, [&] { FillTimes(scope.calls, kept, count, &trace->calls); },
      [&] { FillRest(scope, kept, count, trace); });
}

/// All but the times of the calls, and the numbers of those that ops refer to.
void HostSide::FillRest(const Scope& scope, const std::vector<uint8_t>& kept,
                        size_t count, Trace* trace) {
  HostCalls& out = trace->calls;
  out.name.reserve(count);
  out.thread.reserve(count);
  out.kind.reserve(count);
  std::vector<uint32_t> number(kept.size(), kNone);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    number[i] = static_cast<uint32_t>(out.kind.size());
    out.name.push_back(names_.NumberOf(scope.calls[i]->name, &counters_));
    out.thread.push_back(
        static_cast<uint16_t>(thread_of_track_[scope.tracks[i]]));
    out.kind.push_back(scope.kinds[i]);
  }
  for (uint32_t& launch : trace->ops.launch) {
    if (launch != kNone) launch = number[launch];
  }
}

/// The lane or thread of a range; kNone when it is not of this trace.
uint32_t HostSide::PlaceOf(const EventRecord& range, const TraceKey& key,
                           std::vector<uint32_t>* lane_of_track, Trace* trace) {
  const Track& track = TrackOf(&range);
  if (track.scope != key.scope) return kNone;
  if (KindOfRange(range) == RangeKind::kHost)
    return thread_of_track_[range.track];
  if (track.pid_number != key.device) return kNone;
  uint32_t& lane = (*lane_of_track)[range.track];
  if (lane == kNone) {  // a stream with ranges and without ops
    lane = static_cast<uint32_t>(trace->lanes.size());
    trace->lanes.push_back({track.tid_number.value_or(0), track.tid});
  }
  return lane;
}

/// Profilers put their own work on a process -1 of no rank: of a merged file it
/// is not known whose it is.
void HostSide::AddProfilerSpan(const EventRecord& range, const TraceKey& key,
                               Trace* trace) const {
  const bool ours = TrackOf(&range).scope == key.scope || scopes_.size() == 1;
  if (ours) trace->profiler.push_back({range.start_ns, range.dur_ns});
}

void HostSide::FillAnnotations(const TraceKey& key,
                               std::vector<uint32_t>* lane_of_track,
                               Trace* trace) {
  for (const StoredBatch& batch : batches_) {
    for (const EventRecord& range : batch.annotations) {
      if (KindOfRange(range) == RangeKind::kProfiler) {
        AddProfilerSpan(range, key, trace);
        continue;
      }
      const uint32_t where = PlaceOf(range, key, lane_of_track, trace);
      if (where == kNone) continue;
      Annotation annotation;
      annotation.start_ns = range.start_ns;
      annotation.dur_ns = range.dur_ns;
      annotation.name = names_.NumberOf(range.name, &counters_);
      annotation.where = where;
      annotation.on_gpu = KindOfRange(range) == RangeKind::kGpu;
      annotation.ordinal = range.ordinal();
      trace->annotations.push_back(annotation);
    }
  }
  std::sort(trace->annotations.begin(), trace->annotations.end(),
            [](const Annotation& a, const Annotation& b) {
              return std::tuple(a.start_ns, -a.dur_ns, a.ordinal) <
                     std::tuple(b.start_ns, -b.dur_ns, b.ordinal);
            });
}

void HostSide::FillTallies(std::vector<Trace>* traces) const {
  for (const auto& [name, scope] : scopes_) {
    std::map<std::string_view, LaunchTallyBuilder> tallies;  // by process
    std::vector<LaunchTallyBuilder*> of_track(tracks_.tracks().size(), nullptr);
    for (size_t i = 0; i < scope.calls.size(); ++i) {
      if (!CanLaunch(scope.kinds[i])) continue;
      const int64_t correlation = scope.calls[i]->correlation;
      if (correlation == 0) continue;
      const uint32_t track = scope.tracks[i];
      LaunchTallyBuilder*& tally = of_track[track];
      if (tally == nullptr) tally = &tallies[tracks_.tracks()[track].pid];
      tally->Add(scope.kinds[i], scope.answered[i] != 0 ||
                                     scope.launches.IsRepeated(correlation));
    }
    for (size_t t = 0; t < launchers_.size(); ++t) {
      const auto& [of_scope, processes] = launchers_[t];
      if (of_scope != name) continue;
      for (const auto& [process, tally] : tallies)
        if (processes.contains(process))
          (*traces)[t].capture.launches += tally.tally();
    }
  }
}

void HostSide::Fill(const TraceKey& key, unsigned threads,
                    std::vector<uint32_t>* lane_of_track, Trace* trace) {
  FillCalls(key, threads, trace);
  FillAnnotations(key, lane_of_track, trace);
}

}  // namespace inferdiff
