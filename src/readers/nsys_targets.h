// SPDX-License-Identifier: Apache-2.0
// What an Nsight Systems export says about machine and session, beside the
// events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/trace.h"
#include "readers/sqlite_database.h"

namespace inferdiff {

/// Process and thread ids there are packed: machine, process, thread in the
/// lowest 24 bits. This is the one of the process.
inline int64_t NsysProcessOf(int64_t global_id) {
  return static_cast<int64_t>(static_cast<uint64_t>(global_id) &
                              ~uint64_t{0xffffff});
}
/// The id the operating system gave it.
inline int64_t NsysPidOf(int64_t global_id) {
  return static_cast<int64_t>(static_cast<uint64_t>(global_id) >> 24U &
                              0xffffffU);
}

class NsysTargets {
 public:
  NsysTargets(SqliteDatabase* database, ImportCounters* counters);

  /// The machine's number of a process's CUDA device, where it is known; else
  /// the process's own.
  int64_t DeviceOf(int64_t process, int64_t cuda_device) const;
  /// Everything but the device itself. `alone`: no other process of the file
  /// used a GPU, so that the environment of the capture is that of this one.
  void Fill(int64_t process, bool alone, TraceInfo* info) const;

 private:
  struct Gpu {
    std::string name;
    std::optional<int64_t> sm_count;
  };

  void ReadGpus(SqliteDatabase* database, ImportCounters* counters);
  void ReadRanks(SqliteDatabase* database, ImportCounters* counters);
  void ReadEnvironment(SqliteDatabase* database, ImportCounters* counters);
  void ReadTimes(SqliteDatabase* database, ImportCounters* counters);

  std::map<int64_t, Gpu> gpus_;
  std::map<std::pair<int64_t, int64_t>, int64_t> gpu_of_;  // (pid, CUDA device)
  std::map<int64_t, int64_t> rank_of_;                     // by process
  std::optional<int64_t> rank_, world_size_;               // of the environment
  std::string driver_;
  int64_t base_time_ns_ = 0;
};

}  // namespace inferdiff
