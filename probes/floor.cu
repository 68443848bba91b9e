// SPDX-License-Identifier: Apache-2.0
// What a kernel costs that does nothing or little: in a replayed graph,
// launched eagerly, with programmatic dependent launch; and what the host pays.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "probes/kernels.h"
#include "probes/lanes.h"
#include "probes/probe.h"

namespace inferdiff {

void ProbeGemv(Session* session, GPU(Stream_t) stream);

namespace {

constexpr int kShort = 64, kLong = 1024;  // chains that the floor is between
constexpr int kArray = 1 << 16;           // floats of the elementwise kernel

/// Launches kernel `i` of a chain.
using Launch = std::function<void(GPU(Stream_t), int i)>;

class FloorProbe {
 public:
  explicit FloorProbe(Session* session)
      : session_(*session),
        lanes_(8),
        array_(MakeArray<float>(kArray)),
        words_(MakeArray<Word>(2 * 1024)) {}

  void Run() {
    MakeUsed();
    Chains();
    for (const int branches : {2, 4, 8})
      Branches(branches, "independent chains");
    for (const int branches : {2, 4, 8}) Ladder(branches);
    Kinds();
    Dependent();
    Eager();
    Host();
    AddFloor("empty, at the end");
  }

 private:
  static void Empty(GPU(Stream_t) stream, int) {
    EmptyKernel<<<1, 32, 0, stream>>>(nullptr);
  }

  Graph Chain(int count, const Launch& launch) {
    return Capture(lanes_[0], [&] {
      for (int i = 0; i < count; ++i) launch(lanes_[0], i);
    });
  }

  // One more kernel of a chain.
  void AddSlope(const std::string& name, Facts facts, Graph less, Graph more,
                double count) {
    Slope slope(lanes_[0], std::move(less), std::move(more), count);
    Result result{"kernel", name, std::move(facts), {}, "ns", ""};
    if (name.empty()) result.id = "floor";
    result.measured = Measure(session_.rule, [&] { return slope.Round(); });
    session_.Add(std::move(result));
  }

  void AddFloor(const std::string& name) {
    AddSlope(name, {}, Chain(kShort, Empty), Chain(kLong, Empty),
             kLong - kShort);
  }

  // What a kernel costs depends on what a process has done before: on an H200
  // it is 0.50 us at first and 0.68 us from some allocation on, to the end.
  // Programs that are traced have done much: the floor is taken behind GEMVs
  // and copies, and what it was before is kept beside it.
  void MakeUsed() {
    AddFloor("empty, in a new process");
    Branches(2, "independent chains, in a new process");
    ProbeGemv(&session_, lanes_[0]);
    UseMemory(session_);
  }

  void Chains() {
    AddFloor("");
    for (int count = 1; count <= kLong; count *= 4) {
      const Graph graph = Chain(count, Empty);
      Stopwatch watch;
      session_.Add({"chain",
                    "graph",
                    {{"kernels", int64_t{count}}},
                    Measure(session_.rule,
                            [&] {
                              return watch.Ns(lanes_[0], [&] {
                                GPU_CALL(GraphLaunch, graph.get(), lanes_[0]);
                              });
                            }),
                    "ns",
                    ""});
    }
  }

  // Chains beside each other that meet at the end.
  Graph Beside(int branches, int length) {
    return Capture(lanes_[0], [&] {
      lanes_.Fork(static_cast<size_t>(branches));
      for (int i = 0; i < length; ++i)
        for (int b = 0; b < branches; ++b)
          Empty(lanes_[static_cast<size_t>(b)], i);
      lanes_.Join(static_cast<size_t>(branches));
    });
  }

  void Branches(int branches, const std::string& name) {
    AddSlope(name, {{"branches", int64_t{branches}}, {"long", int64_t{64}}},
             Beside(branches, 16), Beside(branches, 64), branches * 48.0);
  }

  // Each rung parts into branches of one kernel and meets again.
  Graph Rungs(int branches, int rungs) {
    return Capture(lanes_[0], [&] {
      for (int i = 0; i < rungs; ++i) {
        lanes_.Fork(static_cast<size_t>(branches));
        for (int b = 0; b < branches; ++b)
          Empty(lanes_[static_cast<size_t>(b)], i);
        lanes_.Join(static_cast<size_t>(branches));
      }
    });
  }

  void Ladder(int branches) {
    AddSlope("fork and join at each kernel",
             {{"branches", int64_t{branches}}, {"rungs", int64_t{128}}},
             Rungs(branches, 32), Rungs(branches, 128), branches * 96.0);
  }

  void Kinds() {
    const auto add = [&](const char* name, const Launch& launch) {
      AddSlope(name, {}, Chain(kShort, launch), Chain(4 * kShort, launch),
               3 * kShort);
    };
    add("elementwise, 256 KiB", [&](GPU(Stream_t) stream, int) {
      ElementwiseKernel<<<kArray / 256, 256, 0, stream>>>(array_.get(), kArray);
    });
    add("16 KiB from kernel to kernel", [&](GPU(Stream_t) stream, int i) {
      Word* from = words_.get() + (i % 2 == 0 ? 0 : 1024);
      Word* to = words_.get() + (i % 2 == 0 ? 1024 : 0);
      PassKernel<<<1, 1024, 0, stream>>>(from, to);
    });
  }

  // Programmatic dependent launch: a kernel is set up while the one before it
  // still runs.
  void Dependent() {
#ifdef INFERDIFF_PROBE_HIP
    session_.report.absent.push_back(
        {"programmatic dependent launch", "CUDA alone has it"});
#else
    int major = 0;
    GPU_CALL(DeviceGetAttribute, &major, GPU_ATTRIBUTE(ComputeCapabilityMajor),
             0);
    if (major < 9) {
      session_.report.absent.push_back(
          {"programmatic dependent launch", "devices of capability 9 have it"});
      return;
    }
    const Launch launch = [](GPU(Stream_t) stream, int) {
      cudaLaunchAttribute early = {};
      early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      early.val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config = {};
      config.gridDim = dim3(1);
      config.blockDim = dim3(32);
      config.stream = stream;
      config.attrs = &early;
      config.numAttrs = 1;
      GPU_CALL(LaunchKernelEx, &config, DependentKernel,
               static_cast<int*>(nullptr));
    };
    AddSlope("programmatic dependent launch, graph", {}, Chain(kShort, launch),
             Chain(4 * kShort, launch), 3 * kShort);
    AddEager("programmatic dependent launch, eager", launch);
#endif
  }

  void Eager() { AddEager("eager, launched ahead", Empty); }

  // Kernels that the host has queued before the device comes to them. A round
  // whose queue was not full in time is dropped, and the next waits longer.
  void AddEager(const char* name, const Launch& launch) {
    Stopwatch watch;
    int64_t wait_ns = 1'000'000;
    const auto queue = [&](int count) {
      bool ahead = false;
      WaitKernel<<<1, 1, 0, lanes_[0]>>>(wait_ns);
      const Event waited = MakeEvent(GPU(EventDisableTiming));
      GPU_CALL(EventRecord, waited.get(), lanes_[0]);
      const double ns = watch.Ns(lanes_[0], [&] {
        for (int i = 0; i < count; ++i) launch(lanes_[0], i);
        ahead = GPU(EventQuery)(waited.get()) == GPU(ErrorNotReady);
        (void)GPU(GetLastError)();  // "not ready" is no error
      });
      return ahead ? ns : NAN;
    };
    const auto round = [&] {
      const double slope = (queue(256) - queue(64)) / 192;
      if (!std::isfinite(slope) && wait_ns < 16'000'000) wait_ns *= 2;
      return slope;
    };
    session_.Add({"kernel", name, {}, Measure(session_.rule, round), "ns", ""});
  }

  // Host time of `calls` calls of one kind, each.
  template <class Call>
  void AddHost(const char* name, Facts facts, int calls, const Call& call) {
    using Clock = std::chrono::steady_clock;
    const auto round = [&] {
      GPU_CALL(StreamSynchronize, lanes_[0]);
      const auto start = Clock::now();
      for (int i = 0; i < calls; ++i) call();
      const std::chrono::duration<double, std::nano> took =
          Clock::now() - start;
      return took.count() / calls;
    };
    session_.Add({"host", name, std::move(facts), Measure(session_.rule, round),
                  "ns", ""});
  }

  void Host() {
    AddHost("launch a kernel", {}, 200, [&] { Empty(lanes_[0], 0); });
    for (const int count : {1, 64, 1024}) {
      const Graph graph = Chain(count, Empty);
      AddHost("launch a graph", {{"kernels", int64_t{count}}}, 4,
              [&] { GPU_CALL(GraphLaunch, graph.get(), lanes_[0]); });
    }
  }

  Session& session_;
  Lanes lanes_;
  DeviceArray<float> array_;
  DeviceArray<Word> words_;
};

}  // namespace

void ProbeFloor(Session* session) {
  FloorProbe(session).Run();
  GPU_CALL(GetLastError);
}

}  // namespace inferdiff
