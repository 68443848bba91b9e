// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_assemble.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "readers/kineto_names.h"
#include "readers/kineto_sort.h"
#include "readers/kineto_tracks.h"
#include "readers/launch_index.h"

namespace inferdiff {
namespace {

/// One (rank, device) until its columns are built.
struct TracePlan {
  std::string_view scope;
  int64_t device = 0;
  size_t op_count = 0;
  RecordOrder ops;
};

/// Sorts runs of equal start by `less`.
template <typename Less>
void SortTies(RecordOrder* order, Less less) {
  const auto& starts = order->start_ns;
  for (size_t i = 0; i < starts.size();) {
    size_t end = i + 1;
    while (end < starts.size() && starts[end] == starts[i]) ++end;
    if (end - i > 1) {
      const auto begin = order->record.begin();
      std::sort(begin + static_cast<ptrdiff_t>(i),
                begin + static_cast<ptrdiff_t>(end), less);
    }
    i = end;
  }
}

class Assembler {
 public:
  Assembler(std::vector<RecordBatch> batches,
            std::vector<std::unique_ptr<Lexicon>> lexicons,
            const KinetoMetadata& metadata, SourceFile* file)
      : batches_(std::move(batches)),
        lexicons_(std::move(lexicons)),
        metadata_(metadata),
        file_(file),
        tracks_(lexicons_),
        names_(lexicons_) {}

  void Run(bool truncated);

 private:
  const Track& TrackOf(const EventRecord* record) const {
    return tracks_.tracks()[record->track];
  }
  void NumberRecords();
  void Renumber(RecordBatch* batch, uint64_t first_ordinal, bool unpadded);
  void PlanTraces();
  void OrderOps();
  void OrderCalls();
  void FillOps(TracePlan* plan, Trace* trace);
  void FillLanes(const TracePlan& plan, Trace* trace);
  std::vector<uint8_t> LinkOps(const TracePlan& plan, const RecordOrder& calls,
                               GpuOps* ops);
  void FindProcesses(const RecordOrder& calls,
                     const std::vector<uint8_t>& linked);
  bool IsOurs(const EventRecord* host) const;
  void FillThreads(const TracePlan& plan, const RecordOrder& calls,
                   const std::vector<uint8_t>& kept, Trace* trace);
  void FillCalls(const TracePlan& plan, Trace* trace);
  uint32_t PlaceOf(const EventRecord& range, const TracePlan& plan,
                   Trace* trace);
  void FillAnnotations(const TracePlan& plan, Trace* trace);
  void FillInfo(const TracePlan& plan, Trace* trace);
  Vendor FindVendor() const;
  void CountAbsurd(const GpuOps& ops);

  std::vector<RecordBatch> batches_;
  std::vector<std::unique_ptr<Lexicon>> lexicons_;
  const KinetoMetadata& metadata_;
  SourceFile* file_;
  TrackTable tracks_;
  NameTable names_;
  std::vector<TracePlan> plans_;
  std::vector<uint32_t> plan_of_track_;  // kNone: no GPU op on it
  std::vector<uint32_t> lane_of_track_;  // in its trace
  // Of the trace that is being built.
  std::set<std::string_view> processes_;   // empty: any
  std::vector<uint32_t> thread_of_track_;  // kNone: not in it
  // Host calls of a scope by (start, ordinal); their starts are dropped.
  std::map<std::string_view, RecordOrder> scopes_;
  int64_t graph_launches_ = 0;
  Vendor vendor_ = Vendor::kUnknown;
  bool truncated_ = false;
};

int64_t Unpadded(int64_t ns, unsigned digits) {
  // .5 was read as 500 ns and means 5.
  const int64_t fraction = ns % 1000;
  const int64_t divisor = digits == 1 ? 100 : (digits == 2 ? 10 : 1);
  return ns - fraction + fraction / divisor;
}

void Assembler::Renumber(RecordBatch* batch, uint64_t first_ordinal,
                         bool unpadded) {
  const std::vector<uint32_t>& tracks = tracks_.Of(batch->lexicon);
  size_t index = 0;
  while (lexicons_[index].get() != batch->lexicon) ++index;
  const uint32_t first_name = names_.FirstOf(index);
  for (auto* records : {&batch->ops, &batch->calls, &batch->annotations}) {
    for (EventRecord& record : *records) {
      record.track = tracks[record.track];
      record.name += first_name;
      record.set_ordinal(record.ordinal() + first_ordinal);
      if (!unpadded) continue;
      record.start_ns = Unpadded(record.start_ns, record.digits & 15U);
      record.dur_ns = Unpadded(record.dur_ns, record.digits >> 4U);
    }
  }
}

/// From numbers of a batch and a lexicon to numbers of the file.
void Assembler::NumberRecords() {
  FractionEvidence fractions;
  for (RecordBatch& batch : batches_) {
    fractions.Merge(batch.fractions);
    file_->counters.Merge(batch.counters);
  }
  const bool unpadded = !metadata_.base_time_ns && fractions.Unpadded();
  if (!metadata_.base_time_ns && fractions.Undecided()) {
    file_->counters.Add(Counter::kUnclearFraction);
  }
  uint64_t ordinal = 0;
  for (RecordBatch& batch : batches_) {
    Renumber(&batch, ordinal, unpadded);
    ordinal += batch.elements;
  }
}

void Assembler::PlanTraces() {
  std::vector<size_t> ops_on(tracks_.tracks().size(), 0);
  for (const RecordBatch& batch : batches_) {
    for (const EventRecord& op : batch.ops) ++ops_on[op.track];
  }
  plan_of_track_.assign(ops_on.size(), kNone);
  // Tracks are sorted by scope, then device.
  for (size_t i = 0; i < ops_on.size(); ++i) {
    if (ops_on[i] == 0) continue;
    const Track& track = tracks_.tracks()[i];
    if (!track.pid_number) {
      file_->counters.Add(Counter::kMissingField, ops_on[i]);
      continue;
    }
    if (track.tid.empty()) {
      file_->counters.Add(Counter::kUnclearLane, ops_on[i]);
    }
    if (plans_.empty() || plans_.back().scope != track.scope ||
        plans_.back().device != track.pid_number) {
      plans_.push_back({track.scope, *track.pid_number, 0, {}});
    }
    // Every trace looks through the calls and tracks of the whole file.
    constexpr size_t kMostTraces = 1024;
    if (plans_.size() > kMostTraces) {
      throw InputError("too-many-devices", "",
                       "the trace has GPU operations of more than 1024 devices",
                       "their pid should be the device's number: the file is "
                       "damaged, or no profiler wrote it");
    }
    plan_of_track_[i] = static_cast<uint32_t>(plans_.size() - 1);
    plans_.back().op_count += ops_on[i];
  }
}

void Assembler::OrderOps() {
  for (TracePlan& plan : plans_) {
    ReserveHuge(&plan.ops.start_ns, plan.op_count);
    ReserveHuge(&plan.ops.record, plan.op_count);
  }
  for (const RecordBatch& batch : batches_) {
    for (const EventRecord& op : batch.ops) {
      const uint32_t plan = plan_of_track_[op.track];
      if (plan == kNone) continue;  // of no device
      RecordOrder& order = plans_[plan].ops;
      order.start_ns.push_back(op.start_ns);
      order.record.push_back(&op);
    }
  }
  for (TracePlan& plan : plans_) {
    SortByStart(&plan.ops);
    // Lanes are numbered in the order of their tracks.
    SortTies(&plan.ops, [](const EventRecord* a, const EventRecord* b) {
      return std::tuple(a->dur_ns, a->track, a->ordinal()) <
             std::tuple(b->dur_ns, b->track, b->ordinal());
    });
  }
}

void Assembler::OrderCalls() {
  for (const RecordBatch& batch : batches_) {
    for (const EventRecord& call : batch.calls) {
      RecordOrder& order = scopes_[TrackOf(&call).scope];
      order.start_ns.push_back(call.start_ns);
      order.record.push_back(&call);
      if (static_cast<CallKind>(call.kind) == CallKind::kGraphLaunch) {
        ++graph_launches_;
      }
    }
  }
  for (auto& [scope, calls] : scopes_) {
    SortByStart(&calls);
    SortTies(&calls, [](const EventRecord* a, const EventRecord* b) {
      return a->ordinal() < b->ordinal();
    });
    calls.start_ns = {};
  }
}

void Assembler::FillLanes(const TracePlan& plan, Trace* trace) {
  const size_t which = static_cast<size_t>(&plan - plans_.data());
  for (size_t i = 0; i < plan_of_track_.size(); ++i) {
    if (plan_of_track_[i] != which) continue;
    const Track& track = tracks_.tracks()[i];
    lane_of_track_[i] = static_cast<uint32_t>(trace->lanes.size());
    trace->lanes.push_back({track.tid_number.value_or(0), track.tid});
  }
}

void Assembler::FillOps(TracePlan* plan, Trace* trace) {
  GpuOps& ops = trace->ops;
  const size_t count = plan->ops.size();
  ops.start_ns = std::move(plan->ops.start_ns);
  ReserveHuge(&ops.dur_ns, count);
  ReserveHuge(&ops.correlation, count);
  ReserveHuge(&ops.ordinal, count);
  ReserveHuge(&ops.name, count);
  ReserveHuge(&ops.lane, count);
  ReserveHuge(&ops.kind, count);
  for (const EventRecord* op : plan->ops.record) {
    ops.dur_ns.push_back(op->dur_ns);
    ops.correlation.push_back(op->correlation);
    ops.ordinal.push_back(op->ordinal());
    ops.name.push_back(names_.NumberOf(op->name, &file_->counters));
    ops.lane.push_back(lane_of_track_[op->track]);
    ops.kind.push_back(static_cast<OpKind>(op->kind));
  }
  plan->ops.record = {};
}

bool CanLaunch(const EventRecord* call) {
  const auto kind = static_cast<CallKind>(call->kind);
  return call->correlation != 0 && kind != CallKind::kSync &&
         kind != CallKind::kAlloc;
}

/// Calls of the scope by correlation.
LaunchIndex IndexOf(const RecordOrder& calls, ImportCounters* counters) {
  int64_t min = INT64_MAX;
  int64_t max = INT64_MIN;
  size_t count = 0;
  for (const EventRecord* call : calls.record) {
    if (!CanLaunch(call)) continue;
    min = std::min(min, call->correlation);
    max = std::max(max, call->correlation);
    ++count;
  }
  LaunchIndex index(min, max, count);
  for (size_t i = 0; i < calls.record.size(); ++i) {
    const EventRecord* call = calls.record[i];
    if (CanLaunch(call) &&
        !index.Add(call->correlation, static_cast<uint32_t>(i))) {
      counters->Add(Counter::kDuplicateCorrelation);
    }
  }
  return index;
}

/// Sets `launch` of the ops to indices in the scope's calls; returns which of
/// those are meant.
std::vector<uint8_t> Assembler::LinkOps(const TracePlan& plan,
                                        const RecordOrder& calls, GpuOps* ops) {
  const bool first_of_scope =
      &plan == plans_.data() || (&plan - 1)->scope != plan.scope;
  ImportCounters counted_before;  // several traces may share the calls
  const LaunchIndex index =
      IndexOf(calls, first_of_scope ? &file_->counters : &counted_before);
  std::vector<uint8_t> linked(calls.record.size(), 0);
  ReserveHuge(&ops->launch, ops->size());
  for (const int64_t correlation : ops->correlation) {
    const uint32_t call = correlation == 0 ? kNone : index.Find(correlation);
    ops->launch.push_back(call);
    if (call == kNone) {
      file_->counters.Add(Counter::kUnlinkedOp);
    } else {
      linked[call] = 1;
    }
  }
  return linked;
}

/// Calls that launch nothing, and host ranges, belong to the processes that
/// launched this trace's ops; without such a process they belong to everybody.
void Assembler::FindProcesses(const RecordOrder& calls,
                              const std::vector<uint8_t>& linked) {
  processes_.clear();
  std::vector<bool> used(tracks_.tracks().size(), false);
  for (size_t i = 0; i < linked.size(); ++i) {
    if (linked[i] != 0) used[calls.record[i]->track] = 1;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) processes_.insert(tracks_.tracks()[i].pid);
  }
}

bool Assembler::IsOurs(const EventRecord* host) const {
  return processes_.empty() || processes_.count(TrackOf(host).pid) != 0;
}

/// Numbers the threads of the calls and ranges that are kept.
void Assembler::FillThreads(const TracePlan& plan, const RecordOrder& calls,
                            const std::vector<uint8_t>& kept, Trace* trace) {
  std::vector<bool> used(tracks_.tracks().size(), false);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] != 0) used[calls.record[i]->track] = 1;
  }
  for (const RecordBatch& batch : batches_) {
    for (const EventRecord& range : batch.annotations) {
      if (range.kind == 0 && TrackOf(&range).scope == plan.scope &&
          IsOurs(&range)) {
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

void Assembler::FillCalls(const TracePlan& plan, Trace* trace) {
  const RecordOrder& calls = scopes_[plan.scope];
  std::vector<uint8_t> kept = LinkOps(plan, calls, &trace->ops);
  FindProcesses(calls, kept);
  size_t count = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    const EventRecord* const call = calls.record[i];
    const auto kind = static_cast<CallKind>(call->kind);
    const bool launches_nothing = kind == CallKind::kGraphLaunch ||
                                  kind == CallKind::kSync ||
                                  kind == CallKind::kAlloc;
    if (launches_nothing && IsOurs(call)) kept[i] = 1;
    count += kept[i];
  }
  FillThreads(plan, calls, kept, trace);
  HostCalls& out = trace->calls;
  ReserveHuge(&out.start_ns, count);
  ReserveHuge(&out.dur_ns, count);
  ReserveHuge(&out.correlation, count);
  ReserveHuge(&out.name, count);
  ReserveHuge(&out.thread, count);
  ReserveHuge(&out.kind, count);
  std::vector<uint32_t> number(kept.size(), kNone);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    const EventRecord* const call = calls.record[i];
    number[i] = static_cast<uint32_t>(out.size());
    out.start_ns.push_back(call->start_ns);
    out.dur_ns.push_back(call->dur_ns);
    out.correlation.push_back(call->correlation);
    out.name.push_back(names_.NumberOf(call->name, &file_->counters));
    out.thread.push_back(static_cast<uint16_t>(thread_of_track_[call->track]));
    out.kind.push_back(static_cast<CallKind>(call->kind));
  }
  for (uint32_t& launch : trace->ops.launch) {
    if (launch != kNone) launch = number[launch];
  }
}

/// The lane or thread of a range; kNone when it is not of this trace.
uint32_t Assembler::PlaceOf(const EventRecord& range, const TracePlan& plan,
                            Trace* trace) {
  const Track& track = TrackOf(&range);
  if (track.scope != plan.scope) return kNone;
  if (range.kind == 0) return thread_of_track_[range.track];
  if (track.pid_number != plan.device) return kNone;
  uint32_t& lane = lane_of_track_[range.track];
  if (lane == kNone) {  // a stream with ranges and without ops
    lane = static_cast<uint32_t>(trace->lanes.size());
    trace->lanes.push_back({track.tid_number.value_or(0), track.tid});
  }
  return lane;
}

void Assembler::FillAnnotations(const TracePlan& plan, Trace* trace) {
  for (const RecordBatch& batch : batches_) {
    for (const EventRecord& range : batch.annotations) {
      const uint32_t where = PlaceOf(range, plan, trace);
      if (where == kNone) continue;
      Annotation annotation;
      annotation.start_ns = range.start_ns;
      annotation.dur_ns = range.dur_ns;
      annotation.name = names_.NumberOf(range.name, &file_->counters);
      annotation.where = where;
      annotation.on_gpu = range.kind != 0;
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

Vendor Assembler::FindVendor() const {
  if (metadata_.vendor != Vendor::kUnknown) return metadata_.vendor;
  for (const DeviceProperties& device : metadata_.devices) {
    if (device.name.find("AMD") != std::string::npos) return Vendor::kAmd;
    if (device.name.find("NVIDIA") != std::string::npos ||
        device.name.find("Tesla") != std::string::npos ||
        device.name.find("GeForce") != std::string::npos) {
      return Vendor::kNvidia;
    }
    if (device.warp_size == 64) return Vendor::kAmd;
  }
  const auto starts = [](std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
  };
  bool nvidia = false;
  // Names of the model only: a lexicon may hold some of a wrong guess.
  const StringPool& names = *names_.pool();
  for (NameId id = 0; id < names.size(); ++id) {
    const std::string_view name = names[id];
    if (starts(name, "hip") || starts(name, "Cijk_") ||
        starts(name, "__amd_rocclr")) {
      return Vendor::kAmd;
    }
    nvidia |= starts(name, "cuda") || starts(name, "cuLaunch") ||
              starts(name, "sm80_") || starts(name, "sm90_") ||
              starts(name, "nvjet") || starts(name, "ampere_") ||
              starts(name, "volta_");
  }
  return nvidia ? Vendor::kNvidia : Vendor::kUnknown;
}

void Assembler::FillInfo(const TracePlan& plan, Trace* trace) {
  TraceInfo& info = trace->info;
  info.vendor = vendor_;
  info.device = plan.device;
  info.rank = plan.scope.empty() ? metadata_.rank : RankOfScope(plan.scope);
  info.world_size = metadata_.world_size;
  info.runtime_version = metadata_.runtime_version;
  info.base_time_ns = metadata_.base_time_ns.value_or(0);
  info.truncated = truncated_;
  info.graph_launches = graph_launches_;
  // On AMD the device is an agent of the node, which is in no list: all
  // devices of a host being alike, the first stands for it.
  const DeviceProperties* mine = nullptr;
  for (const DeviceProperties& device : metadata_.devices) {
    if (mine == nullptr) mine = &device;
    if (info.vendor != Vendor::kAmd && device.id == plan.device) {
      mine = &device;
      break;
    }
  }
  if (mine == nullptr) return;
  info.gpu_name = mine->name;
  info.sm_count = mine->sm_count;
}

void Assembler::CountAbsurd(const GpuOps& ops) {
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (const int64_t dur : ops.dur_ns) sum += dur;
  if (ops.size() < 2) return;
  for (const int64_t dur : ops.dur_ns) {
    if (Wide{dur} * 2 > sum) file_->counters.Add(Counter::kAbsurdDuration);
  }
}

void Assembler::Run(bool truncated) {
  truncated_ = truncated;
  NumberRecords();
  PlanTraces();
  OrderOps();
  lane_of_track_.assign(tracks_.tracks().size(), kNone);
  file_->traces.resize(plans_.size());
  for (size_t i = 0; i < plans_.size(); ++i) {
    FillLanes(plans_[i], &file_->traces[i]);
    FillOps(&plans_[i], &file_->traces[i]);
  }
  for (RecordBatch& batch : batches_) batch.ops = {};
  ReturnFreeMemory();
  OrderCalls();
  for (size_t i = 0; i < plans_.size(); ++i) {
    Trace& trace = file_->traces[i];
    FillCalls(plans_[i], &trace);
    FillAnnotations(plans_[i], &trace);
    CountAbsurd(trace.ops);
    trace.names = names_.pool();
  }
  vendor_ = FindVendor();
  for (size_t i = 0; i < plans_.size(); ++i) {
    FillInfo(plans_[i], &file_->traces[i]);
  }
}

}  // namespace

void AssembleTraces(std::vector<RecordBatch> batches,
                    std::vector<std::unique_ptr<Lexicon>> lexicons,
                    const KinetoMetadata& metadata, bool truncated,
                    SourceFile* file) {
  Assembler(std::move(batches), std::move(lexicons), metadata, file)
      .Run(truncated);
}

}  // namespace inferdiff
