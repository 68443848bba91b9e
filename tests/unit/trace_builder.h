// SPDX-License-Identifier: Apache-2.0
// Traces in memory for tests of what comes after the readers.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "model/trace.h"

namespace inferdiff {

/// Collects records in any order, in microseconds; Build sorts and links them
/// as a reader does.
class TraceBuilder {
 public:
  struct Call {
    CallKind kind;
    int64_t start_us;
    int64_t correlation;
    uint16_t thread;
  };
  /// An op of a graph, relative to its replay's begin.
  struct GraphOp {
    std::string name;
    int64_t start_us, dur_us;
    uint32_t lane = 0;
  };

  void Op(const std::string& name, int64_t start_us, int64_t dur_us,
          uint32_t lane = 0, int64_t correlation = 0,
          OpKind kind = OpKind::kKernel) {
    ops_.push_back({start_us * 1000, dur_us * 1000, correlation,
                    names_->Intern(name), lane, kind});
  }
  void Launch(CallKind kind, int64_t at_us, int64_t correlation,
              uint16_t thread = 0) {
    calls_.push_back({kind, at_us, correlation, thread});
  }
  void Sync(int64_t at_us, uint16_t thread = 0) {
    Launch(CallKind::kSync, at_us, 0, thread);
  }
  void Mark(const std::string& name, int64_t start_us, int64_t dur_us,
            uint32_t where = 0, bool on_gpu = false) {
    Annotation a;
    a.start_ns = start_us * 1000;
    a.dur_ns = dur_us * 1000;
    a.name = names_->Intern(name);
    a.where = where;
    a.on_gpu = on_gpu;
    a.ordinal = marks_.size();
    marks_.push_back(a);
  }
  /// An op launched at `launch_us`.
  void Eager(const std::string& name, int64_t launch_us, int64_t start_us,
             int64_t dur_us, uint32_t lane = 0, uint16_t thread = 0) {
    Launch(CallKind::kKernelLaunch, launch_us, ++correlation_, thread);
    Op(name, start_us, dur_us, lane, correlation_);
  }
  /// A replay; `launch_us` < 0: its launch record is missing.
  void Replay(const std::vector<GraphOp>& graph, int64_t launch_us,
              int64_t start_us, uint32_t first_lane = 0) {
    ++correlation_;
    if (launch_us >= 0) {
      Launch(CallKind::kGraphLaunch, launch_us, correlation_);
    }
    for (const GraphOp& op : graph) {
      Op(op.name, start_us + op.start_us, op.dur_us, first_lane + op.lane,
         correlation_);
    }
  }
  /// Thread names default to one process.
  void Process(uint16_t thread, const std::string& process) {
    process_[thread] = process;
  }

  Trace Build() const {
    Trace trace;
    trace.names = names_;
    trace.annotations = marks_;
    std::stable_sort(trace.annotations.begin(), trace.annotations.end(),
                     [](const Annotation& a, const Annotation& b) {
                       if (a.start_ns != b.start_ns) {
                         return a.start_ns < b.start_ns;
                       }
                       return a.dur_ns > b.dur_ns;
                     });
    const std::map<int64_t, uint32_t> launch_of = AddCalls(trace);
    AddOps(launch_of, trace);
    return trace;
  }

 private:
  struct OpRecord {
    int64_t start, dur, correlation;
    NameId name;
    uint32_t lane;
    OpKind kind;
  };

  std::map<int64_t, uint32_t> AddCalls(Trace& trace) const {
    std::vector<Call> calls = calls_;
    std::stable_sort(
        calls.begin(), calls.end(),
        [](const Call& a, const Call& b) { return a.start_us < b.start_us; });
    std::map<int64_t, uint32_t> launch_of;
    uint16_t threads = 1;
    for (const Annotation& a : marks_) {
      if (!a.on_gpu) {
        threads = std::max(threads, static_cast<uint16_t>(a.where + 1));
      }
    }
    for (const Call& call : calls) {
      if (call.correlation != 0) {
        launch_of.emplace(call.correlation,
                          static_cast<uint32_t>(trace.calls.size()));
      }
      trace.calls.start_ns.push_back(call.start_us * 1000);
      trace.calls.dur_ns.push_back(1000);
      trace.calls.correlation.push_back(call.correlation);
      trace.calls.name.push_back(0);
      trace.calls.thread.push_back(call.thread);
      trace.calls.kind.push_back(call.kind);
      threads = std::max(threads, static_cast<uint16_t>(call.thread + 1));
    }
    trace.threads.resize(threads);
    for (size_t t = 0; t < threads; ++t) {
      const auto found = process_.find(static_cast<uint16_t>(t));
      trace.threads[t].process = found == process_.end() ? "1" : found->second;
    }
    return launch_of;
  }

  void AddOps(const std::map<int64_t, uint32_t>& launch_of,
              Trace& trace) const {
    std::vector<uint32_t> order(ops_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const OpRecord &x = ops_[a], &y = ops_[b];
      return std::tuple(x.start, x.start + x.dur, x.lane) <
             std::tuple(y.start, y.start + y.dur, y.lane);
    });
    uint32_t lanes = 1;
    for (const uint32_t i : order) {
      const OpRecord& op = ops_[i];
      const auto launch = launch_of.find(op.correlation);
      trace.ops.start_ns.push_back(op.start);
      trace.ops.dur_ns.push_back(op.dur);
      trace.ops.correlation.push_back(op.correlation);
      trace.ops.ordinal.push_back(i);
      trace.ops.name.push_back(op.name);
      trace.ops.lane.push_back(op.lane);
      trace.ops.launch.push_back(launch == launch_of.end() ? kNone
                                                           : launch->second);
      trace.ops.kind.push_back(op.kind);
      lanes = std::max(lanes, op.lane + 1);
    }
    for (const Annotation& a : marks_) {
      if (a.on_gpu) lanes = std::max(lanes, a.where + 1);
    }
    trace.lanes.resize(lanes);
    for (uint32_t l = 0; l < lanes; ++l) {
      trace.lanes[l] = {l, std::to_string(l)};
    }
  }

  std::shared_ptr<StringPool> names_ = std::make_shared<StringPool>();
  std::vector<OpRecord> ops_;
  std::vector<Call> calls_;
  std::vector<Annotation> marks_;
  std::map<uint16_t, std::string> process_;
  int64_t correlation_ = 0;
};

/// "k7". Not with operator+, which g++ 12 warns of for no reason.
inline std::string Numbered(std::string name, int64_t number) {
  return name.append(std::to_string(number));
}

/// Classes by a word in the name, so that tests of steps do not hang on rules:
/// "nccl" or "allreduce" is communication, "sample" or "ArgMax" sampling.
inline Classification ClassesByWord(const Trace& trace) {
  Classification out;
  for (const NameId name : trace.ops.name) {
    const std::string_view text = (*trace.names)[name];
    const auto has = [&](std::string_view word) {
      return text.find(word) != text.npos;
    };
    Category category = Category::kOther;
    if (has("nccl") || has("allreduce")) category = Category::kCommunication;
    if (has("sample") || has("ArgMax")) category = Category::kSampling;
    out.of_op.push_back(category);
  }
  return out;
}

}  // namespace inferdiff
