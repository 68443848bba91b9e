// SPDX-License-Identifier: Apache-2.0
// What tracing changes: the same graphs without and with the vendor's tracer,
// by kernel size. From some kernels' graphs it is foretold what the tracer adds
// to others, which are measured in the same turns.
#include <algorithm>
#include <string>

#include "probes/judge.h"
#include "probes/kernels.h"
#include "probes/lanes.h"
#include "probes/probe.h"
#include "probes/tracer.h"

namespace inferdiff {
namespace {

constexpr int kShort = 32, kLong = 288, kRounds = 41;
constexpr int64_t kMostFloats = int64_t{1} << 25;  // 128 MiB: past the caches
constexpr int64_t kMiB = int64_t{1} << 20;

/// Graphs of one kind of kernel; a round is one more kernel, in ns.
struct Timed {
  std::string name;
  Slope slope;
  Measured untraced = {};
  std::vector<double> traced = {};  // by round
};

class TraceCostProbe {
 public:
  TraceCostProbe(Session* session, Tracer* tracer)
      : session_(*session),
        tracer_(*tracer),
        stream_(MakeStream()),
        array_(MakeArray<float>(kMostFloats)) {}

  void Run() {
    MakeGraphs();
    for (std::vector<Timed>* graphs : All())
      for (Timed& timed : *graphs)
        timed.untraced =
            Measure(session_.rule, [&] { return timed.slope.Round(); });
    tracer_.Start();
    for (int round = 0; round < kRounds; ++round) TracedRound();
    tracer_.TakeDurations();
    for (Timed& timed : busy_) Record(&timed);
    tracer_.Stop();
    Report();
  }

 private:
  template <class Launch>
  Timed Make(std::string name, const Launch& launch) {
    const auto graph = [&](int count) {
      return Capture(stream_.get(), [&] {
        for (int i = 0; i < count; ++i) launch(i);
      });
    };
    return {std::move(name),
            Slope(stream_.get(), graph(kShort), graph(kLong), kLong - kShort)};
  }

  void Elementwise(int64_t bytes) {
    const int64_t count = bytes / 4;
    ElementwiseKernel<<<static_cast<unsigned>(count / 256), 256, 0,
                        stream_.get()>>>(array_.get(), count);
  }

  // From one half of the array to the other.
  void Copy(int64_t bytes) {
    const auto* from = reinterpret_cast<const Word*>(array_.get());
    auto* to = reinterpret_cast<Word*>(array_.get() + kMostFloats / 2);
    CopyKernel<<<264, 256, 0, stream_.get()>>>(from, to, bytes / 16);
  }

  void Triad(int64_t bytes, int64_t blocks) {
    auto* array = reinterpret_cast<float4*>(array_.get());
    const int64_t quarter = kMostFloats / 16;
    TriadKernel<<<static_cast<unsigned>(blocks), 256, 0, stream_.get()>>>(
        array, array + quarter, array + 2 * quarter, bytes / 16);
  }

  std::vector<std::vector<Timed>*> All() {
    return {&busy_, &few_blocks_, &many_blocks_, &others_};
  }

  void MakeGraphs() {
    busy_.push_back(Make("empty", [&](int) {
      EmptyKernel<<<1, 32, 0, stream_.get()>>>(nullptr);
    }));
    for (const int64_t thousands : {1, 2, 4, 8, 16, 32, 64, 128})
      busy_.push_back(
          Make("busy, " + std::to_string(thousands) + "000 cycles", [&](int) {
            BusyKernel<<<1, 128, 0, stream_.get()>>>(1000 * thousands);
          }));
    for (const int64_t bytes : {kMiB / 8, kMiB, 4 * kMiB, 16 * kMiB}) {
      const std::string size = std::to_string(bytes / 1024) + " KiB";
      few_blocks_.push_back(
          Make("triad, " + size, [&](int) { Triad(bytes, 264); }));
      many_blocks_.push_back(Make("triad, " + size + ", a block each 4 KiB",
                                  [&](int) { Triad(bytes, bytes / 4096); }));
    }
    for (const int64_t bytes : {kMiB / 8, kMiB, 8 * kMiB, 32 * kMiB})
      others_.push_back(
          Make("elementwise, " + std::to_string(bytes / 1024) + " KiB",
               [&](int) { Elementwise(bytes); }));
    for (const int64_t bytes : {kMiB / 2, 4 * kMiB, 16 * kMiB})
      others_.push_back(Make("copy, " + std::to_string(bytes / 1024) + " KiB",
                             [&](int) { Copy(bytes); }));
    others_.push_back(Make("elementwise and copy, eight sizes", [&](int i) {
      const int64_t bytes = kMiB / 8 << (i % 8);
      if (i % 2 == 0)
        Elementwise(bytes);
      else
        Copy(bytes);
    }));
    others_.push_back(Make("elementwise, 128 MiB: past the caches, in place",
                           [&](int) { Elementwise(4 * kMostFloats); }));
  }

  // What a tracer adds changes as it runs: graphs that are compared take turns,
  // and a prediction is held against what was measured in the same turn.
  void TracedRound() {
    for (std::vector<Timed>* graphs : All())
      for (Timed& timed : *graphs) timed.traced.push_back(timed.slope.Round());
  }

  void Record(Timed* timed) {
    for (int i = 0; i < 3; ++i) timed->slope.Round();
    recorded_.push_back(Summary(tracer_.TakeDurations(), TracedRule()));
  }

  // What was added to a graph, by round.
  static std::vector<double> Added(const Timed& timed) {
    std::vector<double> added = timed.traced;
    for (double& ns : added) ns -= timed.untraced.median;
    return added;
  }

  // What was to be expected from kernels that move data: the mean of those of
  // few blocks and of those of many, as either may be what another program has.
  double Predicted(double untraced_ns, size_t round) const {
    double sum = 0;
    for (const std::vector<Timed>* family : {&few_blocks_, &many_blocks_}) {
      std::vector<TraceCost> costs;
      for (const Timed& timed : *family)
        costs.push_back({timed.untraced.median,
                         timed.traced[round] - timed.untraced.median});
      std::sort(costs.begin(), costs.end(),
                [](const TraceCost& a, const TraceCost& b) {
                  return a.untraced_ns < b.untraced_ns;
                });
      sum += AddedByTracer(costs, untraced_ns);
    }
    return sum / 2;
  }

  void Add(const char* id, const std::string& name, Facts facts,
           const Measured& measured) {
    session_.Add({id, name, std::move(facts), measured, "ns", tracer_.name()});
  }

  void Report() {
    Add("floor", "", {}, Summary(busy_.front().traced, TracedRule()));
    for (const std::vector<Timed>* family :
         {&busy_, &few_blocks_, &many_blocks_})
      for (const Timed& timed : *family)
        Add("trace_cost", timed.name, {{"untraced_ns", timed.untraced.median}},
            Summary(Added(timed), TracedRule()));
    std::vector<Recorded> records;
    for (size_t i = 0; i < busy_.size(); ++i) {
      records.push_back({busy_[i].untraced.median, recorded_[i].median});
      Add("trace_duration", busy_[i].name,
          {{"untraced_ns", records[i].untraced_ns},
           {"believed", Believed(records[i])}},
          recorded_[i]);
    }
    for (const Timed& timed : others_) AddCheck(timed);
    Believe(records);
  }

  void AddCheck(const Timed& timed) {
    const std::vector<double> added = Added(timed);
    std::vector<double> predicted, errors;
    for (size_t i = 0; i < added.size(); ++i) {
      predicted.push_back(Predicted(timed.untraced.median, i));
      errors.push_back(100 * (predicted[i] / added[i] - 1));
    }
    Add("trace_check", timed.name,
        {{"untraced_ns", timed.untraced.median},
         {"predicted_ns", Median(predicted)},
         {"error_percent", Median(errors)}},
        Summary(added, TracedRule()));
  }

  void Believe(const std::vector<Recorded>& records) {
    const auto from = BelievedFrom(records);
    Facts facts = {{"tracer", tracer_.name()},
                   {"shortest_recorded_ns", records.front().recorded_ns}};
    if (from) facts.push_back({"believed_from_ns", *from});
    session_.report.info.push_back({"tracer", std::move(facts)});
  }

  // A tracer's own noise is larger than that of what it traces.
  StopRule TracedRule() const {
    StopRule rule = session_.rule;
    rule.precision = 0.05;
    return rule;
  }

  Session& session_;
  Tracer& tracer_;
  Stream stream_;
  DeviceArray<float> array_;
  std::vector<Timed> busy_, few_blocks_, many_blocks_, others_;
  std::vector<Measured> recorded_;  // durations, of busy_
};

}  // namespace

void ProbeTraceCost(Session* session) {
  std::string why;
  const std::unique_ptr<Tracer> tracer = OpenTracer(&why);
  if (tracer == nullptr) {
    session->report.absent.push_back({"the cost of tracing", why});
    return;
  }
  TraceCostProbe(session, tracer.get()).Run();
  GPU_CALL(GetLastError);
}

}  // namespace inferdiff
