// SPDX-License-Identifier: Apache-2.0
// The host's side of a Kineto file: launches and other calls, named ranges.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "readers/kineto_names.h"
#include "readers/kineto_records.h"
#include "readers/kineto_sort.h"
#include "readers/kineto_tracks.h"
#include "readers/launch_index.h"

namespace inferdiff {

/// Which ops make up a trace.
struct TraceKey {
  std::string_view scope;
  int64_t device = 0;
};

class HostSide {
 public:
  /// All must outlive this. `names` and `counters` are not touched by Collect.
  HostSide(const std::vector<StoredBatch>& batches, const TrackTable& tracks,
           NameTable* names, ImportCounters* counters)
      : batches_(batches),
        tracks_(tracks),
        names_(*names),
        counters_(*counters) {}

  /// Orders the calls, once their records have the numbers of the file.
  void Collect();
  /// Behind Fill of all traces: which launches no trace has an op of. In the
  /// order of the calls of Fill.
  void FillTallies(std::vector<Trace>* traces) const;
  /// Of the whole file, behind Collect.
  int64_t graph_launches() const { return graph_launches_; }

  /// Links the ops of a trace to their launches and adds the calls, threads
  /// and annotations that are its own. `lane_of_track` numbers its lanes; a
  /// lane that has only ranges is added to it.
  void Fill(const TraceKey& key, unsigned threads,
            std::vector<uint32_t>* lane_of_track, Trace* trace);

 private:
  /// Calls that mean one thing by a correlation, in the order of the model.
  struct Scope {
    std::vector<const EventRecord*> calls;
    std::vector<uint32_t> tracks;  // of `calls`: looked through often
    std::vector<CallKind> kinds;
    LaunchIndex launches;  // index in `calls` by correlation
    size_t duplicates = 0;
    std::vector<uint8_t> answered;  // by call: some op refers to it
  };

  const Track& TrackOf(const EventRecord* record) const {
    return tracks_.tracks()[record->track];
  }
  int64_t LinkRepeated(const Scope& scope, GpuOps* ops) const;
  std::vector<uint8_t> LinkOps(Scope* scope, Trace* trace);
  void FindProcesses(const Scope& scope, const std::vector<uint8_t>& linked);
  bool IsOurs(uint32_t track) const;
  void FillThreads(const TraceKey& key, const Scope& scope,
                   const std::vector<uint8_t>& kept, Trace* trace);
  void FillCalls(const TraceKey& key, unsigned threads, Trace* trace);
  void FillRest(const Scope& scope, const std::vector<uint8_t>& kept,
                size_t count, Trace* trace);
  uint32_t PlaceOf(const EventRecord& range, const TraceKey& key,
                   std::vector<uint32_t>* lane_of_track, Trace* trace);
  void AddProfilerSpan(const EventRecord& range, const TraceKey& key,
                       Trace* trace) const;
  void FillAnnotations(const TraceKey& key,
                       std::vector<uint32_t>* lane_of_track, Trace* trace);

  const std::vector<StoredBatch>& batches_;
  const TrackTable& tracks_;
  NameTable& names_;
  ImportCounters& counters_;
  std::map<std::string_view, Scope> scopes_;
  int64_t graph_launches_ = 0;
  /// By trace: its scope, and the processes that launched its ops.
  struct Launchers {
    std::string_view scope;
    std::set<std::string_view> processes;
  };
  std::vector<Launchers> launchers_;
  // Of the trace that is being filled.
  std::set<std::string_view> processes_;   // empty: any
  std::vector<uint32_t> thread_of_track_;  // kNone: not in it
};

}  // namespace inferdiff
