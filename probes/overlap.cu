// SPDX-License-Identifier: Apache-2.0
// What two independent chains save beside each other, by how much of the device
// a kernel takes; and what a side stream costs one that has the device full.
#include <string>

#include "probes/kernels.h"
#include "probes/lanes.h"
#include "probes/probe.h"

namespace inferdiff {
namespace {

constexpr int kThreads = 1024, kLength = 32;

class OverlapProbe {
 public:
  explicit OverlapProbe(Session* session) : session_(*session), lanes_(2) {
    DeviceProperties properties;
    GPU_CALL(GetDeviceProperties, &properties, 0);
    int a_processor = 0;
    GPU_CALL(OccupancyMaxActiveBlocksPerMultiprocessor, &a_processor,
             BusyKernel, kThreads, 0);
    full_ = properties.multiProcessorCount * a_processor;
    cycles_ = CyclesOf(5'000);
  }

  void Run() {
    struct Size {
      const char* name;
      int blocks;
      int64_t cycles;
    };
    const Size sizes[] = {
        {"empty kernels", 1, 0},
        {"5 us, one block", 1, cycles_},
        {"5 us, an eighth of the device", full_ / 8, cycles_},
        {"5 us, half of the device", full_ / 2, cycles_},
        {"5 us, the whole device", full_, cycles_},
        {"20 us, half of the device", full_ / 2, 4 * cycles_}};
    for (const Size& size : sizes)
      AddSaved(size.name, size.blocks, size.cycles);
    AddSideCost("empty kernels beside", 1, 0);
    AddSideCost("5 us of one block beside", 1, cycles_);
    AddSideCost("5 us of the whole device beside", full_, cycles_);
  }

 private:
  // Clock cycles that keep a kernel busy for that long, from two lengths.
  int64_t CyclesOf(double ns) {
    Stopwatch watch;
    const auto time = [&](int64_t cycles) {
      return watch.Ns(lanes_[0],
                      [&] { BusyKernel<<<1, 32, 0, lanes_[0]>>>(cycles); });
    };
    constexpr int64_t kLess = 100'000, kMore = 1'100'000;
    time(kMore);
    const double each = (time(kMore) - time(kLess)) / (kMore - kLess);
    return static_cast<int64_t>(ns / each);
  }

  void Busy(size_t lane, int blocks, int64_t cycles) {
    BusyKernel<<<static_cast<unsigned>(blocks), kThreads, 0, lanes_[lane]>>>(
        cycles);
  }

  double Replay(const Graph& graph) {
    return watch_.Ns(lanes_[0],
                     [&] { GPU_CALL(GraphLaunch, graph.get(), lanes_[0]); });
  }

  void AddSaved(const char* name, int blocks, int64_t cycles) {
    const Graph behind = Capture(lanes_[0], [&] {
      for (int i = 0; i < 2 * kLength; ++i) Busy(0, blocks, cycles);
    });
    const Graph beside = Capture(lanes_[0], [&] {
      lanes_.Fork(2);
      for (int i = 0; i < kLength; ++i)
        for (const size_t lane : {0, 1}) Busy(lane, blocks, cycles);
      lanes_.Join(2);
    });
    Compare("overlap", name, behind, beside, -100);
  }

  void AddSideCost(const char* name, int blocks, int64_t cycles) {
    const Graph alone = Capture(lanes_[0], [&] {
      for (int i = 0; i < kLength; ++i) Busy(0, full_, cycles_);
    });
    const Graph both = Capture(lanes_[0], [&] {
      lanes_.Fork(2);
      for (int i = 0; i < kLength; ++i) {
        Busy(0, full_, cycles_);
        Busy(1, blocks, cycles);
      }
      lanes_.Join(2);
    });
    Compare("side_cost", name, alone, both, 100);
  }

  // By how much `other` is longer than `base`, in `scale`ths of `base`.
  void Compare(const char* id, const char* name, const Graph& base,
               const Graph& other, double scale) {
    std::vector<double> bases, others;
    for (int i = 0; i < 3; ++i) Replay(base), Replay(other);
    StopRule rule = session_.rule;
    rule.near = 0.5;
    const Measured measured = Measure(rule, [&] {
      bases.push_back(Replay(base));
      others.push_back(Replay(other));
      return scale * (others.back() / bases.back() - 1);
    });
    const bool saved = scale < 0;
    session_.Add({id,
                  name,
                  {{saved ? "one_by_one_ns" : "alone_ns", Median(bases)},
                   {"beside_ns", Median(others)}},
                  measured,
                  "%",
                  ""});
  }

  Session& session_;
  Lanes lanes_;
  Stopwatch watch_;
  int full_ = 0;  // blocks that the device holds at once
  int64_t cycles_ = 0;
};

}  // namespace

void ProbeOverlap(Session* session) {
  OverlapProbe(session).Run();
  GPU_CALL(GetLastError);
}

}  // namespace inferdiff
