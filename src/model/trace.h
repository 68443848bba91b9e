// SPDX-License-Identifier: Apache-2.0
// The one model that every reader fills and everything else works on.
//
//   host thread   [launch]   [graph launch]        [sync.....]
//                     |            |
//   lane 0            +->[op]      +->[op][op]  [op]
//   lane 1                            [op..........]
//
// A Trace is one (rank, device). All times are int64 nanoseconds on the
// trace's own clock: absolute time is value + TraceInfo::base_time_ns.
// No format's name appears here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/string_pool.h"
#include "model/counters.h"

namespace inferdiff {

/// "No such index" in every uint32_t index column.
inline constexpr uint32_t kNone = 0xffffffffU;

enum class Vendor : uint8_t { kUnknown, kNvidia, kAmd };

/// Which engine ran an op. Copies and memsets are what the trace recorded as
/// such; a runtime's blit kernel is a kernel.
enum class OpKind : uint8_t { kKernel, kMemcpy, kMemset };

/// What a host call does to the GPU, as far as accounting needs it.
enum class CallKind : uint8_t {
  kKernelLaunch,
  kGraphLaunch,
  kMemcpy,
  kMemset,
  kSync,   // stream, event, device synchronise; queries are not kept
  kAlloc,  // allocations and frees that can stall the device
};

/// GPU activities, one per index, as columns of equal length, sorted by
/// (start, end, lane, ordinal). 45 bytes an op.
struct GpuOps {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;       // >= 0
  std::vector<int64_t> correlation;  // links to host calls; 0 = none
  std::vector<uint64_t> ordinal;     // index of the record in its source
  std::vector<NameId> name;          // in Trace::names
  std::vector<uint32_t> lane;        // index in Trace::lanes
  std::vector<uint32_t> launch;      // index in Trace::calls, or kNone
  std::vector<OpKind> kind;

  size_t size() const { return start_ns.size(); }
  int64_t end_ns(size_t i) const { return start_ns[i] + dur_ns[i]; }
};

/// Host calls, sorted by (start, ordinal): launches that some op of this trace
/// refers to, all graph launches, and the syncs and allocations.
struct HostCalls {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<int64_t> correlation;
  std::vector<NameId> name;
  std::vector<uint16_t> thread;  // index in Trace::threads
  std::vector<CallKind> kind;

  size_t size() const { return start_ns.size(); }
  int64_t end_ns(size_t i) const { return start_ns[i] + dur_ns[i]; }
};

/// A range somebody named: a step marker of an engine, a profiler step.
struct Annotation {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  NameId name = 0;
  /// Host range: index in Trace::threads. GPU range: index in Trace::lanes.
  uint32_t where = 0;
  bool on_gpu = false;
  uint64_t ordinal = 0;
};

/// One in-order queue of the device: a stream, or a hardware queue where the
/// trace knows no streams.
struct Lane {
  int64_t id = 0;     // as the trace numbers it
  std::string label;  // as the trace writes it, e.g. "7" or "stream 7"
};

struct HostThread {
  std::string process;  // as written: "708", "[TP00-DP00] 708"
  std::string thread;
};

/// The process group of a collective, where the trace states it. Few ops have
/// one.
struct OpGroup {
  uint32_t op = 0;     // index in Trace::ops
  uint32_t group = 0;  // index in Trace::process_groups
};

/// Facts about the capture that stand in the trace itself. Absent = unknown.
struct TraceInfo {
  Vendor vendor = Vendor::kUnknown;
  std::string gpu_name;  // "NVIDIA H200"; empty when the trace does not say
  int64_t device = 0;    // as the trace numbers it: on AMD an agent node id
  std::string process;   // where the source holds several: as it labels it
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::optional<int64_t> sm_count;
  std::string runtime_version;  // e.g. "CUDA 13.0", "HIP 7.2.53211"
  int64_t base_time_ns = 0;     // 0 when the trace has no base
  bool truncated = false;       // the file ended early
  /// Graph launch calls in the whole source, linked to an op here or not.
  int64_t graph_launches = 0;
};

/// Launching calls of the processes that launched a trace's ops, from the first
/// to the last one that some op of the file refers to: what comes before and
/// behind may be cut off by the capture's window.
struct LaunchTally {
  int64_t kernels = 0;       // calls that launch a kernel
  int64_t kernels_lost = 0;  // of them, without any op
  int64_t longest_loss = 0;  // the most of those in a row
  int64_t graphs = 0, graphs_lost = 0;

  LaunchTally& operator+=(const LaunchTally& other) {
    kernels += other.kernels;
    kernels_lost += other.kernels_lost;
    longest_loss = std::max(longest_loss, other.longest_loss);
    graphs += other.graphs;
    graphs_lost += other.graphs_lost;
    return *this;
  }
};

/// What a reader noticed that speaks of the capture, not of the GPU.
struct CaptureFacts {
  LaunchTally launches;
  int64_t ambiguous_ops = 0;  // several launch calls have their correlation
  int64_t repeated_ops = 0;   // dropped: they stand in the file twice
};

/// Host time that the profiler takes for itself.
struct ProfilerSpan {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;  // >= 0
};

struct Trace {
  TraceInfo info;
  CaptureFacts capture;
  std::shared_ptr<const StringPool> names;  // shared by traces of one source
  GpuOps ops;
  HostCalls calls;
  std::vector<Annotation> annotations;  // sorted by (start, -duration, ordinal)
  std::vector<ProfilerSpan> profiler;   // in order of the file
  std::vector<Lane> lanes;
  std::vector<HostThread> threads;
  std::vector<std::string> process_groups;  // name and ranks: "1 [0, 1]"
  std::vector<OpGroup> op_groups;           // by op
};

/// All of one source file.
struct SourceFile {
  std::string path;         // as given by the user
  uint64_t size_bytes = 0;  // on disk
  uint32_t crc32 = 0;       // of the bytes on disk (IEEE 802.3, as gzip's)
  std::string format;       // the reader's name for messages
  ImportCounters counters;
  std::vector<Trace> traces;  // by (rank, device); at least one
};

}  // namespace inferdiff
