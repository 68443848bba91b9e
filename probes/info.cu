// SPDX-License-Identifier: Apache-2.0
// Which devices there are, and what is known of them and of the host.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "probes/kernels.h"
#include "probes/lanes.h"
#include "probes/probe.h"

namespace inferdiff {
namespace {

// "0000:65:00.0": the domain, bus and device as /sys has them.
std::string BusId(int device) {
  char text[32] = "";
  if (GPU(DeviceGetPCIBusId)(text, sizeof text, device) != GPU(Success))
    return {};
  std::string id = text;
  std::transform(id.begin(), id.end(), id.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return id;
}

std::string VersionText(int version) {
#ifdef INFERDIFF_PROBE_HIP
  return std::to_string(version / 10'000'000) + "." +
         std::to_string(version / 100'000 % 100);
#else
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
#endif
}

std::string LookedFor(GPU(Error_t) code) {
#ifdef INFERDIFF_PROBE_HIP
  constexpr char kNode[] = "/dev/kfd", kHidden[] = "HIP_VISIBLE_DEVICES";
#else
  constexpr char kNode[] = "/dev/nvidiactl", kHidden[] = "CUDA_VISIBLE_DEVICES";
#endif
  std::string why = std::string("the ") + kRuntime +
                    " runtime says: " + GPU(GetErrorString)(code) + "; " +
                    kNode + " is ";
  why += std::filesystem::exists(kNode) ? "there" : "absent";
  if (const char* hidden = std::getenv(kHidden))
    why += std::string("; ") + kHidden + " is '" + hidden + "'";
  return why;
}

Facts DeviceFacts(int device) {
  DeviceProperties properties;
  GPU_CALL(GetDeviceProperties, &properties, device);
  Facts facts = {
      {"name", std::string(properties.name)},
#ifdef INFERDIFF_PROBE_HIP
      {"architecture", std::string(properties.gcnArchName)},
#else
      {"architecture", "sm_" + std::to_string(properties.major) +
                           std::to_string(properties.minor)},
#endif
      {"bus_id", BusId(device)},
      {"processors", int64_t{properties.multiProcessorCount}},
      {"memory_bytes", static_cast<int64_t>(properties.totalGlobalMem)},
      {"l2_bytes", int64_t{properties.l2CacheSize}},
  };
  if (const auto node = NodeOfPci(BusId(device)))
    facts.push_back({"node", *node});
  else
    facts.push_back({"node", std::string("unknown")});
  const Facts driver = Clocks(BusId(device)).DeviceFacts();
  facts.insert(facts.end(), driver.begin(), driver.end());
  return facts;
}

// Whom this device reaches directly.
Facts PeerFacts(int device, int count) {
  Facts facts;
  for (int peer = 0; peer < count; ++peer) {
    if (peer == device) continue;
    const auto attribute = [&](auto which) {
      int value = 0;
      return GPU(DeviceGetP2PAttribute)(&value, which, device, peer) ==
                     GPU(Success)
                 ? int64_t{value}
                 : int64_t{-1};
    };
    const std::string name = "peer" + std::to_string(peer);
    facts.push_back(
        {name + "_access", attribute(GPU(DevP2PAttrAccessSupported)) == 1});
    facts.push_back(
        {name + "_rank", attribute(GPU(DevP2PAttrPerformanceRank))});
    facts.push_back({name + "_atomics",
                     attribute(GPU(DevP2PAttrNativeAtomicSupported)) == 1});
  }
  return facts;
}

// The step in which the device's wall clock moves.
__global__ void TickKernel(int64_t* least) {
  int64_t before = WallNs();
  for (int i = 0; i < 200'000; ++i) {
    const int64_t now = WallNs();
    if (now > before && now - before < *least) *least = now - before;
    before = now;
  }
}

int64_t ClockStep() {
  DeviceArray<int64_t> least = MakeArray<int64_t>(1, 0x7f);
  TickKernel<<<1, 1>>>(least.get());
  int64_t step = 0;
  GPU_CALL(Memcpy, &step, least.get(), sizeof step, GPU(MemcpyDeviceToHost));
  return step;
}

}  // namespace

DeviceSearch FindDevices() {
  DeviceSearch search;
  const GPU(Error_t) code = GPU(GetDeviceCount)(&search.count);
  if (code != GPU(Success)) search.count = 0;
  int version = 0;
  (void)GPU(RuntimeGetVersion)(&version);
  search.runtime = std::string(kRuntime) + " " + VersionText(version);
  if (search.count == 0) {
    search.why = LookedFor(code);
    return search;
  }
  DeviceProperties properties;
  if (GPU(GetDeviceProperties)(&properties, 0) == GPU(Success))
    search.name = properties.name;
  search.bus_id = BusId(0);
  return search;
}

void WarmUp() {
  using Clock = std::chrono::steady_clock;
  const Stream stream = MakeStream();
  const auto end = Clock::now() + std::chrono::milliseconds(350);
  while (Clock::now() < end) {
    BusyKernel<<<256, 256, 0, stream.get()>>>(2'000'000);
    GPU_CALL(StreamSynchronize, stream.get());
  }
}

void ProbeInfo(Session* session) {
  const int count = FindDevices().count;
  int driver = 0;
  GPU_CALL(DriverGetVersion, &driver);
  for (int device = 0; device < count; ++device) {
    Facts facts = DeviceFacts(device);
    if (device == 0) {
      facts.push_back({"driver_supports", VersionText(driver)});
      facts.push_back({"wall_clock_step_ns", ClockStep()});
    }
    const Facts peers = PeerFacts(device, count);
    facts.insert(facts.end(), peers.begin(), peers.end());
    session->report.info.push_back(
        {"device " + std::to_string(device), std::move(facts)});
  }
  session->report.info.push_back({"host", HostFacts()});
}

}  // namespace inferdiff
