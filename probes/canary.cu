// SPDX-License-Identifier: Apache-2.0
// Is somebody else on this machine? Memory bandwidth of the device, past its
// caches, and of the CPU, node by node.
#include <algorithm>
#include <functional>

#include "probes/host.h"
#include "probes/kernels.h"
#include "probes/lanes.h"
#include "probes/probe.h"

namespace inferdiff {
namespace {

// Bytes a buffer: 1 GiB, or what a sixteenth of free memory allows.
size_t BufferBytes() {
  size_t free = 0, total = 0;
  GPU_CALL(MemGetInfo, &free, &total);
  constexpr size_t kMost = size_t{1} << 30, kGrain = size_t{1} << 20;
  return std::max(kGrain, std::min(kMost, free / 16) / kGrain * kGrain);
}

class CanaryProbe {
 public:
  explicit CanaryProbe(Session* session)
      : session_(*session), stream_(MakeStream()), bytes_(BufferBytes()) {
    for (int i = 0; i < kBuffers; ++i)
      buffers_.push_back(MakeArray<Word>(bytes_ / sizeof(Word), 1));
    int processors = 0;
    GPU_CALL(DeviceGetAttribute, &processors,
#ifdef INFERDIFF_PROBE_HIP
             GPU_ATTRIBUTE(MultiprocessorCount),
#else
             GPU_ATTRIBUTE(MultiProcessorCount),
#endif
             0);
    blocks_ = static_cast<unsigned>(processors) * 16;
  }

  void Run() {
    const auto words = static_cast<int64_t>(bytes_ / sizeof(Word));
    Add("memcpy", 2, [&](int i) {
      GPU_CALL(MemcpyAsync, At(i), At(i + 1), bytes_, GPU(MemcpyDeviceToDevice),
               stream_.get());
    });
    Add("copy", 2, [&](int i) {
      CopyKernel<<<blocks_, 256, 0, stream_.get()>>>(At(i + 1), At(i), words);
    });
    Add("triad", 3, [&](int i) {
      TriadKernel<<<blocks_, 256, 0, stream_.get()>>>(
          reinterpret_cast<float4*>(At(i)),
          reinterpret_cast<const float4*>(At(i + 1)),
          reinterpret_cast<const float4*>(At(i + 2)), words);
    });
  }

 private:
  static constexpr int kBuffers = 4;

  Word* At(int i) const {
    return buffers_[static_cast<size_t>(i % kBuffers)].get();
  }

  // Each round goes once around the buffers.
  void Add(const char* name, int arrays, const std::function<void(int)>& pass) {
    Stopwatch watch;
    const double bytes =
        kBuffers * static_cast<double>(arrays) * static_cast<double>(bytes_);
    const auto round = [&] {
      const double ns = watch.Ns(stream_.get(), [&] {
        for (int i = 0; i < kBuffers; ++i) pass(i);
      });
      return bytes / ns;
    };
    round();
    session_.Add(
        {"bandwidth", name, {}, Measure(session_.rule, round), "GB/s", ""});
  }

  Session& session_;
  Stream stream_;
  size_t bytes_;
  unsigned blocks_ = 0;
  std::vector<DeviceArray<Word>> buffers_;
};

void AddHostMemory(Session* session) {
  for (const Node& node : Nodes()) {
    NodeTriad triad(node);
    triad.Round();
    StopRule rule = session->rule;
    rule.precision = 0.01;  // processors are noisier than devices
    rule.seconds = 1;
    session->Add({"host_bandwidth",
                  "node " + std::to_string(node.id),
                  {},
                  Measure(rule, [&] { return triad.Round(); }),
                  "GB/s",
                  ""});
  }
}

}  // namespace

void UseMemory(const Session& session) {
  Session unheard = session;
  CanaryProbe(&unheard).Run();
}

void ProbeCanary(Session* session) {
  CanaryProbe(session).Run();
  GPU_CALL(GetLastError);
  AddHostMemory(session);
}

}  // namespace inferdiff
