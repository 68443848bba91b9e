// SPDX-License-Identifier: Apache-2.0
#include "probes/clocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace inferdiff {
namespace {

// NVML's functions, declared here: its header is part of the toolkit, its
// library of the driver.
using NvmlPlain = int();
using NvmlByBusId = int(const char*, void**);
using NvmlClock = int(void*, int, unsigned*);
using NvmlReasons = int(void*, unsigned long long*);
using NvmlNumber = int(void*, unsigned*);
using NvmlTemperature = int(void*, int, unsigned*);
using NvmlText = int(char*, unsigned);
constexpr int kSm = 1, kMemory = 2;  // nvmlClockType_t

template <class Function, class... Arguments>
std::optional<unsigned> Number(const Library& nvml, const char* name,
                               Arguments... arguments) {
  auto* function = nvml.Find<Function>(name);
  unsigned value = 0;
  if (function == nullptr || function(arguments..., &value) != 0) return {};
  return value;
}

void AddWhole(const char* name, std::optional<int64_t> value, Facts* facts) {
  if (value) facts->push_back({name, *value});
}

std::optional<int64_t> FileNumber(const std::string& path) {
  const std::string text = FirstLine(path);
  if (text.empty()) return {};
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > int64_t{1} << 50) return {};
    value = 10 * value + (c - '0');
  }
  return value;
}

// The folder of amdgpu's sensors; empty where there is none.
std::string SensorFolder(const std::string& device) {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(device + "/hwmon", error))
    return entry.path().string();
  return {};
}

}  // namespace

std::string ReasonText(uint64_t reasons) {
  struct Reason {
    uint64_t bit;
    const char* text;
  };
  constexpr Reason kReasons[] = {{0x4, "power limit"},
                                 {0x8, "hardware slowdown"},
                                 {0x20, "temperature"},
                                 {0x40, "hardware temperature"},
                                 {0x80, "power brake"}};
  std::string text;
  for (const Reason& reason : kReasons)
    if (reasons & reason.bit)
      text += (text.empty() ? "" : ", ") + std::string(reason.text);
  return text;
}

Clocks::Clocks(const std::string& bus_id)
    : nvml_({"libnvidia-ml.so.1", "libnvidia-ml.so"}) {
  const std::string folder = "/sys/bus/pci/devices/" + bus_id;
  if (!FirstLine(folder + "/pp_dpm_sclk").empty()) {
    amd_ = folder;
    return;
  }
  why_ = nvml_.why() + "; no " + folder + "/pp_dpm_sclk";
  auto* start = nvml_.Find<NvmlPlain>("nvmlInit_v2");
  auto* find = nvml_.Find<NvmlByBusId>("nvmlDeviceGetHandleByPciBusId_v2");
  if (start == nullptr || find == nullptr) return;
  const int started = start();
  if (started == 0 && find(bus_id.c_str(), &nvml_device_) == 0) return;
  nvml_device_ = nullptr;
  why_ = fmt::format("NVML (error {}) knows no device {}", started, bus_id);
}

std::optional<int64_t> Clocks::SmClock() const {
  if (!amd_.empty()) {
    const auto clocks = ParseDpm(WholeFile(amd_ + "/pp_dpm_sclk"));
    return clocks ? std::optional(clocks->now_mhz) : std::nullopt;
  }
  if (nvml_device_ == nullptr) return {};
  return Number<NvmlClock>(nvml_, "nvmlDeviceGetClockInfo", nvml_device_, kSm);
}

std::optional<int64_t> Clocks::MemoryClock() const {
  if (!amd_.empty()) {
    const auto clocks = ParseDpm(WholeFile(amd_ + "/pp_dpm_mclk"));
    return clocks ? std::optional(clocks->now_mhz) : std::nullopt;
  }
  if (nvml_device_ == nullptr) return {};
  return Number<NvmlClock>(nvml_, "nvmlDeviceGetClockInfo", nvml_device_,
                           kMemory);
}

uint64_t Clocks::HeldBackBy() const {
  if (nvml_device_ == nullptr) return 0;
  // The name changed with driver 535.
  for (const char* name : {"nvmlDeviceGetCurrentClocksEventReasons",
                           "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    auto* function = nvml_.Find<NvmlReasons>(name);
    unsigned long long reasons = 0;
    if (function != nullptr && function(nvml_device_, &reasons) == 0)
      return reasons;
  }
  return 0;
}

void Clocks::Sample() {
  if (const auto mhz = SmClock()) sm_mhz_.push_back(*mhz);
  if (const auto mhz = MemoryClock()) memory_mhz_.push_back(*mhz);
  held_back_ |= HeldBackBy();
}

Facts Clocks::NvidiaFacts() const {
  Facts facts;
  char driver[96] = "";
  auto* version = nvml_.Find<NvmlText>("nvmlSystemGetDriverVersion");
  if (version != nullptr && version(driver, sizeof driver) == 0)
    facts.push_back({"driver", std::string(driver)});
  const auto clock = [&](const char* name, int type) {
    return Number<NvmlClock>(nvml_, name, nvml_device_, type);
  };
  AddWhole("sm_mhz_most", clock("nvmlDeviceGetMaxClockInfo", kSm), &facts);
  AddWhole("memory_mhz_most", clock("nvmlDeviceGetMaxClockInfo", kMemory),
           &facts);
  AddWhole("power_mw",
           Number<NvmlNumber>(nvml_, "nvmlDeviceGetPowerUsage", nvml_device_),
           &facts);
  AddWhole("power_limit_mw",
           Number<NvmlNumber>(nvml_, "nvmlDeviceGetEnforcedPowerLimit",
                              nvml_device_),
           &facts);
  AddWhole("temperature_c",
           Number<NvmlTemperature>(nvml_, "nvmlDeviceGetTemperature",
                                   nvml_device_, 0),
           &facts);
  AddWhole(
      "persistence_mode",
      Number<NvmlNumber>(nvml_, "nvmlDeviceGetPersistenceMode", nvml_device_),
      &facts);
  return facts;
}

Facts Clocks::AmdFacts() const {
  Facts facts;
  const std::string driver = FirstLine("/sys/module/amdgpu/version");
  if (!driver.empty()) facts.push_back({"driver", driver});
  for (const auto& [name, file] :
       {std::pair("sm_mhz_most", "/pp_dpm_sclk"),
        std::pair("memory_mhz_most", "/pp_dpm_mclk")})
    if (const auto clocks = ParseDpm(WholeFile(amd_ + file)))
      facts.push_back({name, clocks->most_mhz});
  const std::string sensors = SensorFolder(amd_);
  const auto milliwatts = [&](const char* name, const char* file) {
    const auto microwatts = FileNumber(sensors + file);
    if (microwatts) facts.push_back({name, *microwatts / 1000});
  };
  milliwatts("power_mw", "/power1_average");
  milliwatts("power_limit_mw", "/power1_cap");
  return facts;
}

Facts Clocks::DeviceFacts() const {
  if (!amd_.empty()) return AmdFacts();
  return nvml_device_ != nullptr ? NvidiaFacts() : Facts{};
}

Facts Clocks::Sampled() const {
  Facts facts;
  const auto range = [&](const std::string& name,
                         const std::vector<int64_t>& mhz) {
    if (mhz.empty()) return;
    const auto [low, high] = std::minmax_element(mhz.begin(), mhz.end());
    facts.push_back({name + "_low", *low});
    facts.push_back({name + "_high", *high});
  };
  range("sm_mhz", sm_mhz_);
  range("memory_mhz", memory_mhz_);
  const std::string reasons = ReasonText(held_back_);
  if (!reasons.empty()) facts.push_back({"held_back_by", reasons});
  return facts;
}

std::vector<std::string> Clocks::Doubts() const {
  std::vector<std::string> doubts;
  const auto moved = [&](const char* what, const std::vector<int64_t>& mhz) {
    if (mhz.empty()) return;
    const auto [low, high] = std::minmax_element(mhz.begin(), mhz.end());
    if (*low * 100 < *high * 98)
      doubts.push_back(fmt::format("the {} clock moved between {} and {} MHz",
                                   what, *low, *high));
  };
  moved("SM", sm_mhz_);
  moved("memory", memory_mhz_);
  const std::string reasons = ReasonText(held_back_);
  if (!reasons.empty())
    doubts.push_back("the clocks were held back: " + reasons);
  return doubts;
}

}  // namespace inferdiff
