// SPDX-License-Identifier: Apache-2.0
// Everything a reader found, as text to compare.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "model/trace.h"

namespace inferdiff {

inline std::string TextOf(const Trace& trace) {
  std::string text;
  const auto out = std::back_inserter(text);
  const TraceInfo& info = trace.info;
  fmt::format_to(
      out, "device {} rank {} of {} {} {} {} base {} cut {} graphs {}\n",
      info.device, info.rank.value_or(-1), info.world_size.value_or(-1),
      static_cast<int>(info.vendor), info.gpu_name, info.runtime_version,
      info.base_time_ns, info.truncated, info.graph_launches);
  const CaptureFacts& capture = trace.capture;
  const LaunchTally& launches = capture.launches;
  fmt::format_to(out, "capture {} {} of {} {} of {} longest {}\n",
                 capture.ambiguous_ops, launches.kernels_lost, launches.kernels,
                 launches.graphs_lost, launches.graphs, launches.longest_loss);
  fmt::format_to(out, "repeated {}\n", capture.repeated_ops);
  for (const ProfilerSpan& span : trace.profiler) {
    fmt::format_to(out, "profiler {} {}\n", span.start_ns, span.dur_ns);
  }
  for (const Lane& lane : trace.lanes) {
    fmt::format_to(out, "lane {} {}\n", lane.id, lane.label);
  }
  for (const HostThread& thread : trace.threads) {
    fmt::format_to(out, "thread {} {}\n", thread.process, thread.thread);
  }
  const GpuOps& ops = trace.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    fmt::format_to(out, "op {} {} {} {} {}:{} {} {} {}\n", ops.start_ns[i],
                   ops.dur_ns[i], ops.correlation[i], ops.ordinal[i],
                   ops.name[i], (*trace.names)[ops.name[i]], ops.lane[i],
                   ops.launch[i], static_cast<int>(ops.kind[i]));
  }
  for (const OpGroup& group : trace.op_groups) {
    fmt::format_to(out, "group {} {}\n", group.op,
                   trace.process_groups[group.group]);
  }
  const HostCalls& calls = trace.calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    fmt::format_to(out, "call {} {} {} {}:{} {} {}\n", calls.start_ns[i],
                   calls.dur_ns[i], calls.correlation[i], calls.name[i],
                   (*trace.names)[calls.name[i]], calls.thread[i],
                   static_cast<int>(calls.kind[i]));
  }
  for (const Annotation& range : trace.annotations) {
    fmt::format_to(out, "range {} {} {} {} {} {}\n", range.start_ns,
                   range.dur_ns, (*trace.names)[range.name], range.where,
                   range.on_gpu, range.ordinal);
  }
  return text;
}

inline std::string TextOf(const SourceFile& file) {
  std::string text = fmt::format("crc {:08x}\n", file.crc32);
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    const auto counter = static_cast<Counter>(i);
    if (file.counters[counter] == 0) continue;
    text += fmt::format("{} {}\n", InfoOf(counter).id, file.counters[counter]);
  }
  for (const Trace& trace : file.traces) text += TextOf(trace);
  return text;
}

}  // namespace inferdiff
