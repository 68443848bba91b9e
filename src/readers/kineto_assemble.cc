// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_assemble.h"

#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "readers/kineto_groups.h"
#include "readers/kineto_host.h"
#include "readers/kineto_info.h"
#include "readers/kineto_names.h"
#include "readers/kineto_sort.h"
#include "readers/kineto_tracks.h"

namespace inferdiff {
namespace {

/// One (rank, device) until its columns are built.
struct TracePlan {
  TraceKey key;
  size_t op_count = 0;
  RecordOrder<uint64_t> ops;
};

class Assembler {
 public:
  Assembler(ScannedEvents events, const KinetoMetadata& metadata,
            SourceFile* file)
      : events_(std::move(events)),
        metadata_(metadata),
        file_(file),
        tracks_(events_.lexicons),
        names_(events_.lexicons),
        host_(events_.batches, tracks_, &names_, &file->counters) {}

  void Run(bool truncated, unsigned threads);

 private:
  /// What turns the numbers of a batch and its lexicon into those of the file.
  struct Numbering {
    const std::vector<uint32_t>* tracks = nullptr;
    uint32_t first_name = 0;
    uint64_t first_ordinal = 0;
  };

  void PlanNumbers();
  void Number(const Numbering& numbers, std::span<EventRecord> records) const;
  void BuildOps();
  void PlanTraces();
  void OrderOps();
  void FillOps(TracePlan* plan, Trace* trace);
  void FillLanes(const TracePlan& plan, Trace* trace);
  void BuildHost();
  void CountAbsurd(const GpuOps& ops);

  ScannedEvents events_;
  const KinetoMetadata& metadata_;
  SourceFile* file_;
  TrackTable tracks_;
  NameTable names_;
  HostSide host_;
  std::vector<Numbering> numbers_;  // by batch
  bool unpadded_ = false;
  std::vector<TracePlan> plans_;
  std::vector<uint32_t> plan_of_track_;  // kNone: no GPU op on it
  std::vector<uint32_t> lane_of_track_;  // in its trace
};

int64_t Unpadded(int64_t ns, unsigned digits) {
  // .5 was read as 500 ns and means 5.
  const int64_t fraction = ns % 1000;
  const int64_t divisor = digits == 1 ? 100 : (digits == 2 ? 10 : 1);
  return ns - fraction + fraction / divisor;
}

/// Looks at the batches, and at no record.
void Assembler::PlanNumbers() {
  FractionEvidence fractions;
  uint64_t ordinal = 0;
  for (const StoredBatch& batch : events_.batches) {
    fractions.Merge(batch.fractions);
    file_->counters.Merge(batch.counters);
    size_t lexicon = 0;
    while (events_.lexicons[lexicon].get() != batch.lexicon) ++lexicon;
    numbers_.push_back(
        {&tracks_.Of(batch.lexicon), names_.FirstOf(lexicon), ordinal});
    ordinal += batch.elements;
  }
  unpadded_ = !metadata_.base_time_ns && fractions.Unpadded();
  if (!metadata_.base_time_ns && fractions.Undecided()) {
    file_->counters.Add(Counter::kUnclearFraction);
  }
}

void Assembler::Number(const Numbering& numbers,
                       std::span<EventRecord> records) const {
  for (EventRecord& record : records) {
    record.track = (*numbers.tracks)[record.track];
    record.name += numbers.first_name;
    record.set_ordinal(record.ordinal() + numbers.first_ordinal);
    if (!unpadded_) continue;
    record.start_ns = Unpadded(record.start_ns, record.digits & 15U);
    record.dur_ns = Unpadded(record.dur_ns, record.digits >> 4U);
  }
}

void Assembler::PlanTraces() {
  std::vector<size_t> ops_on(tracks_.tracks().size(), 0);
  for (const StoredBatch& batch : events_.batches) {
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
    if (plans_.empty() || plans_.back().key.scope != track.scope ||
        plans_.back().key.device != track.pid_number) {
      plans_.push_back({{track.scope, *track.pid_number}, 0, {}});
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
  for (TracePlan& plan : plans_) plan.ops.Reserve(plan.op_count);
  for (const StoredBatch& batch : events_.batches) {
    for (const EventRecord& op : batch.ops) {
      const uint32_t plan = plan_of_track_[op.track];
      if (plan != kNone) plans_[plan].ops.Add(op);  // else of no device
    }
  }
  for (TracePlan& plan : plans_) {
    // Lanes are numbered in the order of their tracks.
    SortByTime(&plan.ops, [](const EventRecord& a, const EventRecord& b) {
      return std::tuple(a.dur_ns, a.track, a.ordinal()) <
             std::tuple(b.dur_ns, b.track, b.ordinal());
    });
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

/// A file's peak memory is here: each ordinal takes the place of its record's
/// address.
void Assembler::FillOps(TracePlan* plan, Trace* trace) {
  GpuOps& ops = trace->ops;
  const size_t count = plan->ops.size();
  ops.start_ns = std::move(plan->ops.start_ns);
  ops.ordinal = std::move(plan->ops.record);
  ops.dur_ns.reserve(count);
  ops.correlation.reserve(count);
  ops.name.reserve(count);
  ops.lane.reserve(count);
  ops.kind.reserve(count);
  for (uint64_t& number : ops.ordinal) {
    const EventRecord* const op = RecordAt(number);
    number = op->ordinal();
    ops.dur_ns.push_back(op->dur_ns);
    ops.correlation.push_back(op->correlation);
    ops.name.push_back(names_.NumberOf(op->name, &file_->counters));
    ops.lane.push_back(lane_of_track_[op->track]);
    ops.kind.push_back(static_cast<OpKind>(op->kind));
  }
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

/// The GPU's side: all of it but what the host's side says.
void Assembler::BuildOps() {
  for (size_t i = 0; i < numbers_.size(); ++i) {
    Number(numbers_[i], events_.batches[i].ops);
  }
  PlanTraces();
  OrderOps();
  lane_of_track_.assign(tracks_.tracks().size(), kNone);
  file_->traces.resize(plans_.size());
  for (size_t i = 0; i < plans_.size(); ++i) {
    FillLanes(plans_[i], &file_->traces[i]);
    FillOps(&plans_[i], &file_->traces[i]);
    CountAbsurd(file_->traces[i].ops);
  }
  FillProcessGroups(events_.batches, {plan_of_track_, lane_of_track_},
                    &file_->traces);
}

/// Touches nothing that BuildOps does.
void Assembler::BuildHost() {
  for (size_t i = 0; i < numbers_.size(); ++i) {
    Number(numbers_[i], events_.batches[i].calls);
    Number(numbers_[i], events_.batches[i].annotations);
  }
  host_.Collect();
}

void Assembler::Run(bool truncated, unsigned threads) {
  PlanNumbers();
  RunBoth(
      threads, [this] { BuildOps(); }, [this] { BuildHost(); });
  for (StoredBatch& batch : events_.batches) batch.ops = {};
  for (auto& store : events_.stores) store->DropOps();
  ReturnFreeMemory();
  for (size_t i = 0; i < plans_.size(); ++i) {
    host_.Fill(plans_[i].key, threads, &lane_of_track_, &file_->traces[i]);
    file_->traces[i].names = names_.pool();
  }
  host_.FillTallies(&file_->traces);
  // Names of the model only: a lexicon may hold some of a wrong guess.
  const Vendor vendor = FindVendor(metadata_, *names_.pool());
  for (size_t i = 0; i < plans_.size(); ++i) {
    TraceInfo& info = file_->traces[i].info;
    info.vendor = vendor;
    info.device = plans_[i].key.device;
    info.truncated = truncated;
    info.graph_launches = host_.graph_launches();
    DescribeDevice(metadata_, plans_[i].key.scope, &info);
  }
}

}  // namespace

void AssembleTraces(ScannedEvents events, const KinetoMetadata& metadata,
                    bool truncated, unsigned threads, SourceFile* file) {
  Assembler(std::move(events), metadata, file).Run(truncated, threads);
}

}  // namespace inferdiff
