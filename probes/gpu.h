// SPDX-License-Identifier: Apache-2.0
// One source for CUDA and HIP: GPU(Malloc) is cudaMalloc or hipMalloc. Handles
// free themselves, errors are exceptions.
#pragma once

#ifdef INFERDIFF_PROBE_HIP
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#define GPU_ATTRIBUTE(name) hipDeviceAttribute##name
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#define GPU_ATTRIBUTE(name) cudaDevAttr##name
#endif

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

/// GPU_CALL(Malloc, &pointer, bytes): throws GpuError where it fails.
#define GPU_CALL(name, ...) ::inferdiff::CheckGpu(GPU(name)(__VA_ARGS__), #name)

namespace inferdiff {

#ifdef INFERDIFF_PROBE_HIP
inline constexpr char kRuntime[] = "HIP";
using DeviceProperties = hipDeviceProp_t;
#else
inline constexpr char kRuntime[] = "CUDA";
using DeviceProperties = cudaDeviceProp;
#endif

struct GpuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void CheckGpu(GPU(Error_t) code, const char* call) {
  if (code != GPU(Success))
    throw GpuError(std::string(kRuntime) + " " + call + ": " +
                   GPU(GetErrorString)(code));
}

template <auto Destroy>
struct Destroyer {
  template <class Pointer>
  void operator()(Pointer* pointer) const {
    (void)Destroy(pointer);
  }
};
template <class Handle, auto Destroy>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Destroy>>;

using Stream = Owned<GPU(Stream_t), GPU(StreamDestroy)>;
using Event = Owned<GPU(Event_t), GPU(EventDestroy)>;
using Graph = Owned<GPU(GraphExec_t), GPU(GraphExecDestroy)>;

struct FreeDevice {
  template <class T>
  void operator()(T* pointer) const {
    (void)GPU(Free)(pointer);
  }
};
template <class T>
using DeviceArray = std::unique_ptr<T[], FreeDevice>;

inline Stream MakeStream() {
  GPU(Stream_t) stream = nullptr;
  GPU_CALL(StreamCreateWithFlags, &stream, GPU(StreamNonBlocking));
  return Stream(stream);
}

inline Event MakeEvent(unsigned flags = GPU(EventDefault)) {
  GPU(Event_t) event = nullptr;
  GPU_CALL(EventCreateWithFlags, &event, flags);
  return Event(event);
}

/// Every byte is `fill`.
template <class T>
DeviceArray<T> MakeArray(size_t count, int fill = 0) {
  void* pointer = nullptr;
  GPU_CALL(Malloc, &pointer, count * sizeof(T));
  DeviceArray<T> array(static_cast<T*>(pointer));
  GPU_CALL(Memset, pointer, fill, count * sizeof(T));
  return array;
}

/// What `launches` puts into the stream, as a graph ready to be replayed.
template <class Launches>
Graph Capture(GPU(Stream_t) stream, const Launches& launches) {
  GPU(Graph_t) graph = nullptr;
  GPU(GraphExec_t) ready = nullptr;
  GPU_CALL(StreamBeginCapture, stream, GPU(StreamCaptureModeThreadLocal));
  launches();
  GPU_CALL(StreamEndCapture, stream, &graph);
#ifdef INFERDIFF_PROBE_HIP
  GPU_CALL(GraphInstantiate, &ready, graph, nullptr, nullptr, 0);
#else
  GPU_CALL(GraphInstantiate, &ready, graph, 0);
#endif
  GPU_CALL(GraphDestroy, graph);
  return Graph(ready);
}

/// Device time between two events around what is put into a stream.
class Stopwatch {
 public:
  Stopwatch() : start_(MakeEvent()), end_(MakeEvent()) {}

  template <class Work>
  double Ns(GPU(Stream_t) stream, const Work& work) {
    GPU_CALL(EventRecord, start_.get(), stream);
    work();
    GPU_CALL(EventRecord, end_.get(), stream);
    GPU_CALL(EventSynchronize, end_.get());
    float milliseconds = 0;
    GPU_CALL(EventElapsedTime, &milliseconds, start_.get(), end_.get());
    return 1e6 * static_cast<double>(milliseconds);
  }

 private:
  Event start_, end_;
};

}  // namespace inferdiff
