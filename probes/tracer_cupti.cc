// SPDX-License-Identifier: Apache-2.0
#include "probes/host.h"
#include "probes/tracer.h"

#if !defined(INFERDIFF_PROBE_HIP) && __has_include(<cupti.h>)
#include <cupti.h>

#include <cstdlib>
#include <mutex>
#include <stdexcept>

namespace inferdiff {
namespace {

constexpr size_t kBuffer = size_t{8} << 20;

// CUPTI's callbacks carry no argument of ours.
std::mutex durations_mutex;
std::vector<double> durations;
decltype(&cuptiActivityGetNextRecord) next_record = nullptr;

void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBuffer));
  *size = *buffer == nullptr ? 0 : kBuffer;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI TakeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t,
                         size_t valid) {
  const std::lock_guard lock(durations_mutex);
  CUpti_Activity* record = nullptr;
  while (next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    // Later versions of the record add fields behind these.
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    durations.push_back(static_cast<double>(kernel->end - kernel->start));
  }
  std::free(buffer);
}

class Cupti : public Tracer {
 public:
  Cupti()
      : library_({"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                  "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                  "/usr/local/cuda/lib64/libcupti.so"}) {
    enable_ = Function<decltype(enable_)>("cuptiActivityEnable");
    disable_ = Function<decltype(disable_)>("cuptiActivityDisable");
    flush_ = Function<decltype(flush_)>("cuptiActivityFlushAll");
    next_record = Function<decltype(next_record)>("cuptiActivityGetNextRecord");
    register_ = Function<decltype(register_)>("cuptiActivityRegisterCallbacks");
  }

  bool found() const {
    return enable_ && disable_ && flush_ && next_record && register_;
  }
  std::string why() const { return library_.why(); }
  std::string name() const override { return "cupti"; }

  void Start() override {
    Check(register_(GiveBuffer, TakeBuffer), "cuptiActivityRegisterCallbacks");
    Check(enable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
          "cuptiActivityEnable");
  }

  void Stop() override {
    Check(disable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
          "cuptiActivityDisable");
  }

  std::vector<double> TakeDurations() override {
    Check(flush_(0), "cuptiActivityFlushAll");
    const std::lock_guard lock(durations_mutex);
    return std::exchange(durations, {});
  }

 private:
  template <class Pointer>
  Pointer Function(const char* name) const {
    return library_.Find<std::remove_pointer_t<Pointer>>(name);
  }

  static void Check(CUptiResult code, const char* call) {
    if (code != CUPTI_SUCCESS)
      throw std::runtime_error(std::string(call) + ": error " +
                               std::to_string(code));
  }

  Library library_;
  decltype(&cuptiActivityEnable) enable_ = nullptr;
  decltype(&cuptiActivityDisable) disable_ = nullptr;
  decltype(&cuptiActivityFlushAll) flush_ = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_ = nullptr;
};

}  // namespace

std::unique_ptr<Tracer> OpenTracer(std::string* why) {
  auto cupti = std::make_unique<Cupti>();
  if (cupti->found()) return cupti;
  *why = cupti->why();
  return nullptr;
}

}  // namespace inferdiff

#else

namespace inferdiff {

std::unique_ptr<Tracer> OpenTracer(std::string* why) {
#ifdef INFERDIFF_PROBE_HIP
  *why =
      "no tracer of ours for HIP: run `floor` under rocprofv3 instead, which "
      "is noticed";
#else
  *why = "built without cupti.h";
#endif
  return nullptr;
}

}  // namespace inferdiff
#endif
