// SPDX-License-Identifier: Apache-2.0
#include "readers/trace_sink.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "readers/json_text.h"
#include "readers/launch_index.h"
#include "readers/launch_tally.h"
#include "readers/op_columns.h"
#include "readers/repeated_records.h"

namespace inferdiff {
namespace {

// Sums of two times and their differences stay within 63 bits.
constexpr int64_t kLatest = int64_t{1} << 62;

bool LaunchesNothing(CallKind kind) {
  return kind == CallKind::kSync || kind == CallKind::kAlloc;
}

bool IsSameCall(const TraceSink::Call& a, const TraceSink::Call& b) {
  return a.end_ns == b.end_ns &&
         (a.end_ns > a.start_ns || a.correlation != 0) &&
         a.correlation == b.correlation && a.name == b.name &&
         a.thread == b.thread && a.kind == b.kind;
}

LaunchIndex IndexOf(const std::vector<TraceSink::Call>& calls,
                    ImportCounters* counters) {
  LaunchIndex index;
  index.Reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation == 0 || LaunchesNothing(calls[i].kind)) continue;
    index.Add(calls[i].correlation, static_cast<uint32_t>(i));
  }
  const size_t dropped = index.Finish();
  if (counters != nullptr && dropped > 0) {
    counters->Add(Counter::kDuplicateCorrelation, dropped);
  }
  return index;
}

Annotation RangeOf(uint32_t where, bool on_gpu, int64_t start_ns,
                   int64_t end_ns, NameId name, uint64_t ordinal) {
  Annotation range;
  range.start_ns = start_ns;
  range.dur_ns = end_ns - start_ns;
  range.name = name;
  range.where = where;
  range.on_gpu = on_gpu;
  range.ordinal = ordinal;
  return range;
}

/// The row behind `key`, made by `add` where there is none.
template <typename Key, typename Add>
uint32_t FindOrAdd(std::map<Key, uint32_t>* index, const Key& key, size_t next,
                   const Add& add) {
  const auto [it, added] = index->emplace(key, static_cast<uint32_t>(next));
  if (added) add();
  return it->second;
}

}  // namespace

bool AcceptTimes(int64_t start_ns, int64_t* end_ns, ImportCounters* counters) {
  if (start_ns < -kLatest || start_ns > kLatest || *end_ns < -kLatest ||
      *end_ns > kLatest) {
    counters->Add(Counter::kTimeOutOfRange);
    return false;
  }
  if (*end_ns < start_ns) {
    counters->Add(Counter::kNegativeDuration);
    *end_ns = start_ns;
  }
  return true;
}

void CheckDeviceCount(size_t devices) {
  constexpr size_t kMostTraces = 1024;
  if (devices <= kMostTraces) return;
  throw InputError("too-many-devices", "",
                   "the trace has operations of more than 1024 devices",
                   "the file is damaged, or no profiler wrote it");
}

TraceSink::TraceSink(ImportCounters* counters) : counters_(counters) {}

NameId TraceSink::Name(std::string_view text) {
  const NameId next = names_->size();
  if (IsPlainText(text)) return names_->Intern(text);
  const DecodedText repaired = RepairText(text);
  const NameId id = names_->Intern(repaired.text);
  if (id != next) return id;
  if (repaired.replaced) counters_->Add(Counter::kInvalidUtf8);
  if (repaired.has_control) counters_->Add(Counter::kControlCharacter);
  return id;
}

uint32_t TraceSink::Process(int64_t key, std::string_view label) {
  return FindOrAdd(&process_index_, std::pair(key, std::string(label)),
                   processes_.size(), [&] {
                     processes_.push_back({key, std::string(label), {}, {}});
                   });
}

uint32_t TraceSink::Thread(uint32_t process, int64_t id,
                           std::string_view label) {
  return FindOrAdd(&thread_index_, std::pair(process, id), threads_.size(),
                   [&] {
                     threads_.push_back({process, std::string(label)});
                   });
}

uint32_t TraceSink::Device(uint32_t process, int64_t device) {
  return FindOrAdd(&device_index_, std::pair(process, device), devices_.size(),
                   [&] {
                     CheckDeviceCount(devices_.size() + 1);
                     devices_.push_back({process, {}, {}, {}});
                     devices_.back().info.device = device;
                   });
}

uint32_t TraceSink::Lane(uint32_t device, int64_t id, std::string_view label) {
  return FindOrAdd(&lane_index_, std::pair(device, id), lanes_.size(), [&] {
    lanes_.push_back({device, {id, std::string(label)}});
  });
}

void TraceSink::AddOp(const Op& op) {
  int64_t end_ns = op.end_ns;
  if (!Accept(op.start_ns, &end_ns)) return;
  OpColumns& ops = devices_[lanes_[op.lane].device].ops;
  if (ops.size() == 0) ops.Expect(std::exchange(expected_ops_, 0));
  ops.Add({op.start_ns, end_ns - op.start_ns, op.correlation, op.ordinal,
           op.name, op.lane, op.kind});
  ++op_count_;
}

void TraceSink::AddOps(uint32_t device, GpuOps ops) {
  OpColumns& columns = devices_[device].ops;
  OpColumns added(std::move(ops));
  op_count_ += added.size();
  if (columns.size() == 0) {
    columns = std::move(added);
    return;
  }
  columns.Expect(columns.size() + added.size());
  for (size_t i = 0; i < added.size(); ++i) columns.Add(added.At(i));
}

void TraceSink::AddCalls(uint32_t process, std::vector<Call> calls) {
  std::vector<Call>& kept = processes_[process].calls;
  if (kept.empty()) {
    kept = std::move(calls);
  } else {
    kept.insert(kept.end(), calls.begin(), calls.end());
  }
}

void TraceSink::AddCall(const Call& call) {
  Call kept = call;
  if (!Accept(call.start_ns, &kept.end_ns)) return;
  std::vector<Call>& calls = processes_[threads_[call.thread].process].calls;
  if (calls.empty()) calls.reserve(std::exchange(expected_calls_, 0));
  calls.push_back(kept);
}

void TraceSink::AddProfilerSpan(uint32_t process, int64_t start_ns,
                                int64_t end_ns) {
  if (!Accept(start_ns, &end_ns)) return;
  processes_[process].profiler.push_back({start_ns, end_ns - start_ns});
}

void TraceSink::AddRange(uint32_t thread, int64_t start_ns, int64_t end_ns,
                         NameId name, uint64_t ordinal) {
  if (!Accept(start_ns, &end_ns)) return;
  processes_[threads_[thread].process].ranges.push_back(
      RangeOf(thread, false, start_ns, end_ns, name, ordinal));
}

void TraceSink::AddGpuRange(uint32_t lane, int64_t start_ns, int64_t end_ns,
                            NameId name, uint64_t ordinal) {
  if (!Accept(start_ns, &end_ns)) return;
  devices_[lanes_[lane].device].ranges.push_back(
      RangeOf(lane, true, start_ns, end_ns, name, ordinal));
}

void TraceSink::FillLanes(uint32_t device, Trace* trace) {
  std::vector<uint32_t> mine;
  for (uint32_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].device == device) mine.push_back(i);
  std::sort(mine.begin(), mine.end(), [this](uint32_t a, uint32_t b) {
    return lanes_[a].lane.id < lanes_[b].lane.id;
  });
  for (const uint32_t lane : mine) {
    lane_number_[lane] = static_cast<uint32_t>(trace->lanes.size());
    trace->lanes.push_back(lanes_[lane].lane);
  }
}

/// Numbers of lanes become the trace's; then by time.
void TraceSink::FillOps(DeviceRows* rows, Trace* trace) {
  trace->ops = rows->ops.Take();
  for (uint32_t& lane : trace->ops.lane) lane = lane_number_[lane];
  SortOps(&trace->ops);
}

/// Which of several calls with one correlation an op is of is not known: none
/// of them counts as lost.
void TraceSink::MarkRepeated(const LaunchIndex& index, Host* host) {
  for (size_t i = 0; i < host->calls.size(); ++i)
    if (index.IsRepeated(host->calls[i].correlation)) host->answered[i] = 1;
}

LaunchTally TraceSink::TallyOf(const Host& host) {
  LaunchTallyBuilder tally;
  for (size_t i = 0; i < host.calls.size(); ++i) {
    const Call& call = host.calls[i];
    if (call.correlation != 0 && !LaunchesNothing(call.kind))
      tally.Add(call.kind, host.answered[i] != 0);
  }
  return tally.tally();
}

/// Sets `launch` to indices in the process's calls; returns which of those are
/// meant.
std::vector<uint8_t> TraceSink::LinkOps(Host* host, bool count, Trace* trace) {
  if (host->calls.empty()) {  // a table of kernels alone: nothing to look up
    trace->ops.launch.assign(trace->ops.size(), kNone);
    counters_->Add(Counter::kUnlinkedOp, trace->ops.size());
    return {};
  }
  const LaunchIndex index = IndexOf(host->calls, count ? counters_ : nullptr);
  std::vector<uint8_t> linked(host->calls.size(), 0);
  GpuOps& ops = trace->ops;
  ops.launch.reserve(ops.size());
  size_t near = 0;
  for (const int64_t correlation : ops.correlation) {
    const uint32_t call =
        correlation == 0 ? kNone : index.Find(correlation, &near);
    ops.launch.push_back(call);
    if (call == kNone) {
      counters_->Add(Counter::kUnlinkedOp);
    } else {
      linked[call] = host->answered[call] = 1;
    }
  }
  trace->capture.ambiguous_ops = index.CountRepeated(ops.correlation);
  if (trace->capture.ambiguous_ops > 0) MarkRepeated(index, host);
  return linked;
}

uint32_t TraceSink::ThreadIn(uint32_t thread, Trace* trace) {
  uint32_t& number = thread_number_[thread];
  if (number == kNone) {
    number = static_cast<uint32_t>(trace->threads.size());
    trace->threads.push_back(
        {processes_[threads_[thread].process].label, threads_[thread].label});
  }
  return number;
}

/// `counts`: the first trace of its process, which counts for all.
void TraceSink::FillCalls(Host* host, bool counts, Trace* trace) {
  std::vector<uint8_t> kept = LinkOps(host, counts, trace);
  size_t count = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    const CallKind kind = host->calls[i].kind;
    if (kind == CallKind::kGraphLaunch) ++trace->info.graph_launches;
    if (kind == CallKind::kGraphLaunch || LaunchesNothing(kind)) kept[i] = 1;
    count += kept[i];
  }
  std::vector<uint32_t> number(kept.size(), kNone);
  HostCalls& out = trace->calls;
  out.start_ns.reserve(count);
  out.dur_ns.reserve(count);
  out.correlation.reserve(count);
  out.name.reserve(count);
  out.thread.reserve(count);
  out.kind.reserve(count);
  for (size_t i = 0; i < kept.size(); ++i) {
    const Call& call = host->calls[i];
    if (kept[i] == 0) continue;
    const uint32_t thread = ThreadIn(call.thread, trace);
    if (thread > UINT16_MAX) {
      throw InputError("too-many-threads", "",
                       "more than 65536 host threads launch GPU work",
                       "the file is damaged, or no profiler wrote it");
    }
    number[i] = static_cast<uint32_t>(out.size());
    out.start_ns.push_back(call.start_ns);
    out.dur_ns.push_back(call.end_ns - call.start_ns);
    out.correlation.push_back(call.correlation);
    out.name.push_back(call.name);
    out.thread.push_back(static_cast<uint16_t>(thread));
    out.kind.push_back(call.kind);
  }
  if (number.empty()) return;
  for (uint32_t& launch : trace->ops.launch)
    if (launch != kNone) launch = number[launch];
}

void TraceSink::FillRanges(const DeviceRows& rows, Trace* trace) {
  for (Annotation range : processes_[rows.process].ranges) {
    range.where = ThreadIn(range.where, trace);
    trace->annotations.push_back(range);
  }
  for (Annotation range : rows.ranges) {
    range.where = lane_number_[range.where];
    trace->annotations.push_back(range);
  }
  std::sort(trace->annotations.begin(), trace->annotations.end(),
            [](const Annotation& a, const Annotation& b) {
              return std::tuple(a.start_ns, -a.dur_ns, a.ordinal) <
                     std::tuple(b.start_ns, -b.dur_ns, b.ordinal);
            });
}

void TraceSink::Finish(SourceFile* file) {
  for (Host& host : processes_) {
    const auto before = [](const Call& a, const Call& b) {
      return std::tie(a.start_ns, a.ordinal) < std::tie(b.start_ns, b.ordinal);
    };
    if (!std::is_sorted(host.calls.begin(), host.calls.end(), before)) {
      std::sort(host.calls.begin(), host.calls.end(), before);
    }
    DropRepeated(
        &host.calls, [](const Call& call) { return call.start_ns; },
        IsSameCall);
    host.answered.assign(host.calls.size(), 0);
  }
  std::vector<uint32_t> order(devices_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    const Host& left = processes_[devices_[a].process];
    const Host& right = processes_[devices_[b].process];
    return std::tie(left.key, left.label, devices_[a].info.device) <
           std::tie(right.key, right.label, devices_[b].info.device);
  });
  std::vector<uint8_t> counted(processes_.size(), 0);
  std::vector<uint32_t> process_of;  // by trace
  lane_number_.assign(lanes_.size(), kNone);
  for (const uint32_t device : order) {
    DeviceRows& rows = devices_[device];
    if (rows.ops.size() == 0) continue;
    thread_number_.assign(threads_.size(), kNone);
    Trace& trace = file->traces.emplace_back();
    trace.info = rows.info;
    trace.info.process = processes_[rows.process].label;
    FillLanes(device, &trace);
    FillOps(&rows, &trace);
    FillCalls(&processes_[rows.process], counted[rows.process] == 0, &trace);
    counted[rows.process] = 1;
    FillRanges(rows, &trace);
    trace.profiler = processes_[rows.process].profiler;
    trace.names = names_;
    process_of.push_back(rows.process);
  }
  for (uint32_t process = 0; process < processes_.size(); ++process) {
    const LaunchTally tally = TallyOf(processes_[process]);
    for (size_t i = 0; i < process_of.size(); ++i)
      if (process_of[i] == process) file->traces[i].capture.launches = tally;
  }
}

}  // namespace inferdiff
