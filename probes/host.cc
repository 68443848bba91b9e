// SPDX-License-Identifier: Apache-2.0
#include "probes/host.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

namespace inferdiff {
namespace {

constexpr char kNodes[] = "/sys/devices/system/node/";

std::optional<int64_t> Whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return {};
  return value;
}

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// The value of "name : value" lines.
std::string FieldOf(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

}  // namespace

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle_ != nullptr) return;
    why_ += (why_.empty() ? "" : ", ") + name;
  }
  why_ += ": not found";
}

void* Library::Address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string WholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<int> ParseCpuList(std::string_view text) {
  constexpr int64_t kMost = 1 << 16;
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t dash = item.find('-');
    const auto first = Whole(item.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : Whole(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last > kMost) return {};
    for (int64_t i = *first; i <= *last; ++i)
      cpus.push_back(static_cast<int>(i));
  }
  return cpus;
}

std::optional<DpmClocks> ParseDpm(std::string_view text) {
  DpmClocks clocks;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t digits = line.find_first_of("0123456789", colon);
    if (digits == std::string::npos) continue;
    const auto mhz = Whole(std::string_view(line).substr(digits));
    if (!mhz) continue;
    clocks.most_mhz = std::max(clocks.most_mhz, *mhz);
    if (line.find('*') != std::string::npos) clocks.now_mhz = *mhz;
  }
  if (clocks.most_mhz == 0) return {};
  return clocks;
}

std::string TracerIn(std::string_view maps) {
  struct Tracer {
    std::string_view file, name;
  };
  // Nsight's and PyTorch's tracers use CUPTI: the more special names go first.
  constexpr Tracer kTracers[] = {{"libToolsInjection", "nsys"},
                                 {"librocprofiler-sdk", "rocprofiler-sdk"},
                                 {"librocprofiler", "rocprofiler"},
                                 {"libroctracer", "roctracer"},
                                 {"librpd_tracer", "rpd"},
                                 {"libcupti", "cupti"}};
  for (const Tracer& tracer : kTracers)
    if (maps.find(tracer.file) != std::string_view::npos)
      return std::string(tracer.name);
  return "off";
}

std::optional<int64_t> NodeOfPci(const std::string& bus_id) {
  const auto node =
      Whole(FirstLine("/sys/bus/pci/devices/" + bus_id + "/numa_node"));
  if (!node || *node < 0) return {};
  return node;
}

std::vector<Node> Nodes() {
  const std::vector<int> allowed = AllowedCpus();
  std::vector<Node> nodes;
  for (const int id : ParseCpuList(FirstLine(std::string(kNodes) + "online"))) {
    Node node{id, {}};
    for (const int cpu : ParseCpuList(FirstLine(
             std::string(kNodes) + "node" + std::to_string(id) + "/cpulist")))
      if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end())
        node.cpus.push_back(cpu);
    if (!node.cpus.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) nodes.push_back({0, allowed});  // no NUMA in this kernel
  return nodes;
}

Facts HostFacts() {
  Facts facts;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  const std::string cpus = WholeFile("/proc/cpuinfo");
  add("processor", FieldOf(cpus, "model name"));
  add("kernel", FirstLine("/proc/sys/kernel/osrelease"));
  add("virtual_machine",
      FieldOf(cpus, "flags").find(" hypervisor") == std::string::npos ? ""
                                                                      : "yes");
  facts.push_back(
      {"usable_processors", static_cast<int64_t>(AllowedCpus().size())});
  for (const Node& node : Nodes())
    add(("node" + std::to_string(node.id)).c_str(),
        FirstLine(std::string(kNodes) + "node" + std::to_string(node.id) +
                  "/cpulist"));
  add("node_balancing", FirstLine("/proc/sys/kernel/numa_balancing"));
  add("huge_pages", FirstLine("/sys/kernel/mm/transparent_hugepage/enabled"));
  add("governor",
      FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  return facts;
}

template <class Work>
void NodeTriad::OnEach(const Work& work) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cpus_.size(); ++i)
    threads.emplace_back([this, i, &work] {
      PinTo(cpus_[i]);
      work(i);
    });
  for (std::thread& thread : threads) thread.join();
}

NodeTriad::NodeTriad(const Node& node) {
  // 16 processors fill a node's memory channels; 256 MiB an array is past the
  // caches. Pages come from the node whose processor writes them first.
  constexpr size_t kMostThreads = 16, kDoubles = size_t{256} << 17;
  cpus_.assign(node.cpus.begin(),
               node.cpus.begin() + static_cast<std::ptrdiff_t>(std::min(
                                       kMostThreads, node.cpus.size())));
  a_.resize(cpus_.size());
  b_ = c_ = a_;
  OnEach([&](size_t i) {
    const size_t share = kDoubles / cpus_.size();
    a_[i].assign(share, 0);
    b_[i].assign(share, 1);
    c_[i].assign(share, 2);
  });
}

double NodeTriad::Round() {
  constexpr int kTimes = 4;
  double bytes = 0;
  for (const auto& share : a_)
    bytes += kTimes * 3.0 * static_cast<double>(share.size() * sizeof(double));
  const auto start = std::chrono::steady_clock::now();
  OnEach([&](size_t i) {
    double* a = a_[i].data();
    const double *b = b_[i].data(), *c = c_[i].data();
    const double scale = a_[i][0] * 1e-9 + 3;  // else four rounds fold into one
    for (int time = 0; time < kTimes; ++time)
      for (size_t k = 0; k < a_[i].size(); ++k) a[k] = b[k] + scale * c[k];
  });
  const std::chrono::duration<double, std::nano> took =
      std::chrono::steady_clock::now() - start;
  return bytes / took.count();
}

}  // namespace inferdiff
