// SPDX-License-Identifier: Apache-2.0
// All-reduce over the visible GPUs, one process and a thread a rank. With a
// rank that comes late on purpose, waiting and transfer are told apart as a
// ledger does it:
//
//     rank 0   |meet|      |======= waits =======|= transfer =|
//     rank 1   |meet|      |..... late by X .....|= transfer =|
//
// A rank waits from its own start to the latest's. What two ranks' clocks
// differ by is what they differ by in a round of a graph in which nobody is
// late.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "probes/collectives.h"
#include "probes/kernels.h"
#include "probes/lanes.h"
#include "probes/probe.h"

namespace inferdiff {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr int64_t kAheadNs = 60'000;  // longer than the launches take

struct Rank {
  CollectiveLibrary::Communicator communicator = nullptr;
  Stream stream;
  DeviceArray<float> data;
  DeviceArray<float> meeting;  // what they meet over before the clocks start
  DeviceArray<int64_t> stamps;
  Graph graph, even;  // even: the same with nobody late
  int64_t start = 0;  // of the last round, by the rank's own clock
  double ns = 0;      // from there on, a collective
};

/// What each rank does in a round.
struct Round {
  size_t bytes = 0;
  int times = 1;
  int64_t late_ns = 0;   // the last rank, before it joins
  int64_t ahead_ns = 0;  // all ranks, while their hosts launch the rest
};

class CollectiveProbe {
 public:
  CollectiveProbe(Session* session, const CollectiveLibrary& library, int count)
      : session_(*session), library_(library) {
    const auto communicators = library.InitRanks(count);
    ranks_.resize(communicators.size());
    for (size_t i = 0; i < ranks_.size(); ++i)
      ranks_[i].communicator = communicators[i];
    OnAll([](Rank* rank) {
      rank->stream = MakeStream();
      rank->data = MakeArray<float>(kMostBytes / sizeof(float));
      rank->meeting = MakeArray<float>(32);
      rank->stamps = MakeArray<int64_t>(2);
      // Loading a kernel may wait for the device, and so for the other rank:
      // never between collectives.
      WaitKernel<<<1, 1, 0, rank->stream.get()>>>(0);
      StampKernel<<<1, 1, 0, rank->stream.get()>>>(rank->stamps.get());
      GPU_CALL(DeviceSynchronize);
    });
  }

  // The graphs first, as they hold on to the communicators; these all at once,
  // as each waits for the others of its process.
  ~CollectiveProbe() {
    const bool failed = failed_;
    if (!failed)
      OnAll([](Rank* rank) {
        rank->graph.reset();
        rank->even.reset();
      });
    OnAll([&](Rank* rank) {
      if (failed)
        library_.Abort(rank->communicator);
      else
        library_.Close(rank->communicator);
    });
  }

  void Run() {
    for (size_t bytes = 1024; bytes <= kMostBytes; bytes *= 4)
      for (const bool graph : {false, true}) AddReduce(bytes, graph);
    for (const size_t bytes : {size_t{1} << 20, size_t{16} << 20})
      for (const bool graph : {false, true})
        for (const int64_t late_us : {0, 50, 200, 1000})
          AddLate(bytes, graph, 1000 * late_us);
  }

 private:
  // A thread for each rank, as they may wait for each other inside a call.
  void OnAll(const std::function<void(Rank*)>& work) {
    std::vector<std::thread> threads;
    std::exception_ptr failure;
    std::mutex mutex;
    for (size_t i = 0; i < ranks_.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          GPU_CALL(SetDevice, static_cast<int>(i));
          work(&ranks_[i]);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          failed_ = true;  // the others would wait for ever
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

  // Until the rank's stream is empty: no longer than 20 s, and not on after
  // another rank has failed.
  void Finish(const Rank& rank) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(20);
    for (;;) {
      const GPU(Error_t) state = GPU(StreamQuery)(rank.stream.get());
      if (state != GPU(ErrorNotReady)) return CheckGpu(state, "StreamQuery");
      if (failed_ || Clock::now() > end)
        throw std::runtime_error("a rank waits for another that never comes");
    }
  }

  bool IsLate(const Rank& rank) const { return &rank == &ranks_.back(); }

  void Launch(const Round& round, Rank* rank) {
    GPU(Stream_t) stream = rank->stream.get();
    const auto sum = [&](float* data, size_t bytes) {
      library_.Sum(rank->communicator, data, bytes / sizeof(float), stream);
    };
    sum(rank->meeting.get(), 128);
    WaitKernel<<<1, 1, 0, stream>>>(round.ahead_ns +
                                    (IsLate(*rank) ? round.late_ns : 0));
    StampKernel<<<1, 1, 0, stream>>>(&rank->stamps[0]);
    for (int i = 0; i < round.times; ++i) sum(rank->data.get(), round.bytes);
    StampKernel<<<1, 1, 0, stream>>>(&rank->stamps[1]);
  }

  // `graph`: which of a rank's; null: eagerly.
  void Go(const Round& round, Graph Rank::*graph) {
    OnAll([&](Rank* rank) {
      if (graph)
        GPU_CALL(GraphLaunch, (rank->*graph).get(), rank->stream.get());
      else
        Launch(round, rank);
      Finish(*rank);
      int64_t stamps[2];
      GPU_CALL(Memcpy, stamps, rank->stamps.get(), sizeof stamps,
               GPU(MemcpyDeviceToHost));
      rank->start = stamps[0];
      rank->ns = static_cast<double>(stamps[1] - stamps[0]) / round.times;
    });
  }

  // Eagerly first: a library connects its ranks at the first call of a size.
  void Prepare(const Round& round, Graph Rank::*graph) {
    for (int i = 0; i < 3; ++i) Go(round, nullptr);
    if (!graph) return;
    OnAll([&](Rank* rank) {
      rank->*graph = Capture(rank->stream.get(), [&] { Launch(round, rank); });
    });
    for (int i = 0; i < 3; ++i) Go(round, graph);
  }

  static Facts Shape(size_t bytes, bool graph) {
    return {{"bytes", static_cast<int64_t>(bytes)},
            {"launch", std::string(graph ? "graph" : "eager")}};
  }

  void AddReduce(size_t bytes, bool graph) {
    const Round round = {bytes, bytes > (size_t{1} << 20) ? 5 : 20, 0};
    Graph Rank::*const how = graph ? &Rank::graph : nullptr;
    Prepare(round, how);
    const Measured measured = Measure(session_.rule, [&] {
      Go(round, how);
      double most = 0;
      for (const Rank& rank : ranks_) most = std::max(most, rank.ns);
      return most;
    });
    Facts facts = Shape(bytes, graph);
    const double n = static_cast<double>(ranks_.size());
    facts.push_back({"gb_s", 2 * (n - 1) / n * static_cast<double>(bytes) /
                                 measured.median});
    session_.Add({"allreduce", "", std::move(facts), measured, "ns", ""});
  }

  // How far the other ranks' starts lie before the late one's, on average.
  double Lead() const {
    double lead = 0;
    for (const Rank& rank : ranks_)
      lead += static_cast<double>(ranks_.back().start - rank.start);
    return lead / static_cast<double>(ranks_.size() - 1);
  }

  void AddLate(size_t bytes, bool graph, int64_t late_ns) {
    const Round even = {bytes, 1, 0, kAheadNs};
    const Round round = {bytes, 1, late_ns, kAheadNs};
    Graph Rank::*const how = graph ? &Rank::graph : nullptr;
    Prepare(even, &Rank::even);
    Prepare(round, how);
    std::vector<double> transfers;
    const Measured wait = Measure(session_.rule, [&] {
      Go(even, &Rank::even);
      const double clocks = Lead();
      Go(round, how);
      double transfer = ranks_.back().ns;
      for (const Rank& rank : ranks_) transfer = std::min(transfer, rank.ns);
      transfers.push_back(transfer);
      return Lead() - clocks;
    });
    Facts facts = Shape(bytes, graph);
    facts.push_back({"late_ns", static_cast<double>(late_ns)});
    session_.Add({"allreduce_wait", "", facts, wait, "ns", ""});
    session_.Add({"allreduce_transfer", "", facts,
                  Summary(transfers, session_.rule), "ns", ""});
  }

  Session& session_;
  const CollectiveLibrary& library_;
  std::vector<Rank> ranks_;
  std::atomic<bool> failed_ = false;
};

}  // namespace

void ProbeCollective(Session* session) {
  const CollectiveLibrary library;
  const int devices = FindDevices().count;
  std::string why;
  if (devices < 2) why = "it needs two devices, one is visible";
  if (!library.found()) why = library.why();
  if (!why.empty()) {
    session->report.absent.push_back({"all-reduce", why});
    return;
  }
  session->report.info.push_back(
      {"collectives",
       {{"ranks", int64_t{devices}}, {"library_version", library.version()}}});
  CollectiveProbe(session, library, devices).Run();
  GPU_CALL(SetDevice, 0);
}

}  // namespace inferdiff
