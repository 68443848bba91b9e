// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys_targets.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "readers/json_text.h"

namespace inferdiff {
namespace {

/// A rank, or how many there are.
constexpr int64_t kMostRanks = 1'000'000;

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

/// Of RANK="3" the 3, where `text` sets `variable`.
std::optional<int64_t> SettingOf(std::string_view text,
                                 std::string_view variable) {
  if (text.substr(0, variable.size()) != variable) return std::nullopt;
  text.remove_prefix(variable.size());
  if (text.empty() || text[0] != '=') return std::nullopt;
  text.remove_prefix(1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  const auto value = NumberOf(text);
  return value && *value >= 0 && *value <= kMostRanks ? value : std::nullopt;
}

}  // namespace

NsysTargets::NsysTargets(SqliteDatabase* database, ImportCounters* counters) {
  ReadGpus(database, counters);
  ReadRanks(database, counters);
  ReadEnvironment(database, counters);
  ReadTimes(database, counters);
}

void NsysTargets::ReadGpus(SqliteDatabase* database, ImportCounters* counters) {
  SqliteRows gpus(database, "TARGET_INFO_GPU", {"id", "name", "smCount"},
                  counters);
  gpus.ForEach([&] {
    Gpu gpu{RepairText(gpus.Text(1)).text, std::nullopt};
    if (gpus.IsInt(2)) gpu.sm_count = gpus.Int(2);
    gpus_.emplace(gpus.Int(0), std::move(gpu));
  });
  SqliteRows devices(database, "TARGET_INFO_CUDA_DEVICE",
                     {"gpuId", "cudaId", "pid"}, counters);
  devices.ForEach([&] {
    if (!devices.IsInt(0) || !devices.IsInt(1) || !devices.IsInt(2)) return;
    gpu_of_.emplace(std::pair(devices.Int(2), devices.Int(1)), devices.Int(0));
  });
}

void NsysTargets::ReadRanks(SqliteDatabase* database,
                            ImportCounters* counters) {
  SqliteRows ranks(database, "MPI_RANKS", {"globalTid", "rank"}, counters);
  ranks.ForEach([&] {
    if (!ranks.IsInt(0) || !ranks.IsInt(1)) return;
    if (ranks.Int(1) < 0 || ranks.Int(1) > kMostRanks) return;
    rank_of_.emplace(NsysProcessOf(ranks.Int(0)), ranks.Int(1));
  });
}

void NsysTargets::ReadEnvironment(SqliteDatabase* database,
                                  ImportCounters* counters) {
  SqliteRows capture(database, "META_DATA_CAPTURE", {"name", "value"},
                     counters);
  const auto take = [](std::optional<int64_t> found,
                       std::optional<int64_t>* to) {
    if (found) *to = found;
  };
  capture.ForEach([&] {
    if (capture.Text(0) != "PROCESS_0:ENVIRONMENT_VARIABLE") return;
    const std::string_view text = capture.Text(1);
    take(SettingOf(text, "RANK"), &rank_);
    take(SettingOf(text, "OMPI_COMM_WORLD_RANK"), &rank_);
    take(SettingOf(text, "WORLD_SIZE"), &world_size_);
    take(SettingOf(text, "OMPI_COMM_WORLD_SIZE"), &world_size_);
  });
  SqliteRows system(database, "TARGET_INFO_SYSTEM_ENV", {"name", "value"},
                    counters);
  system.ForEach([&] {
    if (system.Text(0) != "CudaDriverVersion") return;
    const auto version = NumberOf(system.Text(1));  // 13000 = 13.0
    if (version && *version > 0)
      driver_ = fmt::format("CUDA driver {}.{}", *version / 1000,
                            *version % 1000 / 10);
  });
}

void NsysTargets::ReadTimes(SqliteDatabase* database,
                            ImportCounters* counters) {
  int64_t shift = 0;
  bool absolute = false;
  SqliteRows parameters(database, "META_DATA_EXPORT", {"name", "value"},
                        counters);
  parameters.ForEach([&] {
    if (parameters.Text(0) == "EXPORT_PARAM_TIME_NORMALIZE")
      absolute = parameters.Text(1) == "true";
    if (parameters.Text(0) == "EXPORT_PARAM_TIME_SHIFT")
      shift = NumberOf(parameters.Text(1)).value_or(0);
  });
  SqliteRows session(database, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"},
                     counters);
  std::optional<int64_t> start;  // of the first one
  session.ForEach([&] {
    if (!start) start = session.Int(0);
  });
  if (absolute || !start) return;
  // Real ones are below 2^62, and so is every time of an event.
  constexpr int64_t kLatest = int64_t{1} << 62;
  if (*start >= 0 && *start < kLatest && shift > -kLatest / 2 &&
      shift < kLatest / 2) {
    base_time_ns_ = *start - shift;
  }
}

int64_t NsysTargets::DeviceOf(int64_t process, int64_t cuda_device) const {
  const auto gpu = gpu_of_.find({NsysPidOf(process), cuda_device});
  return gpu == gpu_of_.end() ? cuda_device : gpu->second;
}

void NsysTargets::Fill(int64_t process, bool alone, TraceInfo* info) const {
  info->vendor = Vendor::kNvidia;
  info->base_time_ns = base_time_ns_;
  info->runtime_version = driver_;
  auto gpu = gpus_.find(info->device);
  if (gpu == gpus_.end() && gpus_.size() == 1) gpu = gpus_.begin();
  if (gpu != gpus_.end()) {
    info->gpu_name = gpu->second.name;
    info->sm_count = gpu->second.sm_count;
  }
  const auto rank = rank_of_.find(process);
  if (rank != rank_of_.end()) {
    info->rank = rank->second;
  } else if (alone) {
    info->rank = rank_;
    info->world_size = world_size_;
  }
}

}  // namespace inferdiff
