// SPDX-License-Identifier: Apache-2.0
// The host side: libraries that may be absent, what /sys and /proc say, the
// bandwidth of CPU memory. Nothing here needs a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/result.h"

namespace inferdiff {

/// A library that is opened at run time and stays open.
class Library {
 public:
  /// The first of these names that opens.
  explicit Library(const std::vector<std::string>& names);

  bool found() const { return handle_ != nullptr; }
  /// "libnccl.so.2, libnccl.so: not found"
  const std::string& why() const { return why_; }

  /// Null where it lacks the function.
  template <class Function>
  Function* Find(const char* name) const {
    return reinterpret_cast<Function*>(Address(name));
  }

 private:
  void* Address(const char* name) const;

  void* handle_ = nullptr;
  std::string why_;
};

/// A small file's first line without its end; empty where it cannot be read.
std::string FirstLine(const std::string& path);
std::string WholeFile(const std::string& path);

/// "0-3,8" → 0 1 2 3 8. What is no list is empty.
std::vector<int> ParseCpuList(std::string_view text);

/// amdgpu's pp_dpm_sclk: MHz of the line with a star, and the highest.
struct DpmClocks {
  int64_t now_mhz = 0, most_mhz = 0;
};
std::optional<DpmClocks> ParseDpm(std::string_view text);

/// The tracers among the files mapped into a process (/proc/self/maps).
std::string TracerIn(std::string_view maps);

/// The NUMA node of a PCI device, "0000:65:00.0"; nothing where the system
/// does not know, as in a virtual machine.
std::optional<int64_t> NodeOfPci(const std::string& bus_id);

struct Node {
  int id = 0;
  std::vector<int> cpus;  // that this process may use
};
std::vector<Node> Nodes();

/// Processor, nodes, and the settings that move measurements.
Facts HostFacts();

/// GB/s of a = b + s c over one node's memory with its processors, one round.
class NodeTriad {
 public:
  explicit NodeTriad(const Node& node);
  double Round();

 private:
  template <class Work>
  void OnEach(const Work& work);

  std::vector<int> cpus_;
  std::vector<std::vector<double>> a_, b_, c_;  // a thread's share
};

}  // namespace inferdiff
