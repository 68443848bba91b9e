// SPDX-License-Identifier: Apache-2.0
#include "redact/placeholders.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "steps/markers.h"

namespace inferdiff {
namespace {

// Beyond those of the markers' examples; runs of letters. What a trace says of
// its machine, its categories, its tracks, and types and collectives.
constexpr std::string_view kWords =
    "kernel Kernel gpu_memcpy gpu_memset Memcpy Memset HtoD DtoH DtoD PtoP "
    "Pinned Pageable Device Host Array Unified Unknown cuda_runtime "
    "cuda_driver "
    "Runtime hip_runtime hip_driver user_annotation gpu_user_annotation cpu_op "
    "python_function Operator overhead ac2g fwdbwd async_cpu_to_gpu async_gpu "
    "cuda_sync collective_comm Trace Traces Spans PyTorch Profiler "
    "cpu_instant_event process_name process_labels process_sort_index "
    "thread_name thread_sort_index python stream thread GPU CPU TP DP EP PP "
    "rank RANK process Record Window End Iteration Start "
    "NVIDIA AMD Tesla GeForce RTX Quadro Radeon Instinct PRO Graphics SXM PCIe "
    "HBM HBMe GB MB NVL Ada Generation Ti Super H GH B A L V T MI X gfx "
    "nccl rccl gloo ucc mpi xccl cpu cuda hip NVLink ms ns us true false null "
    "float double int long short bool half bfloat BFloat Half Float Double Int "
    "Long Byte Char Bool c uint fp bf e m fn fnuz Tensor TensorList Scalar "
    "ScalarList GenericList Optional "
    "allreduce all_reduce allgather _allgather_base reduce_scatter "
    "_reduce_scatter_base all_gather broadcast barrier send recv alltoall "
    "all_to_all gather scatter reduce coalesced default_pg "
    "Activity Buffer Request Command Full Driver Compiler Lazy Function "
    "Loading "
    "Triggered Module Instrumentation Resource Context Sync Event Stream Wait "
    "Synchronize "
    // Names of fields.
    "Addr Allocated Bytes Call Collective Comms Concrete Description Dims Ev "
    "External Fwd Global Group Hierarchy ID Id Idx In Index Input Inputs Name "
    "Op Out Process Python Rank Ranks Reserved Sequence Strides Total Type "
    "True "
    "False achieved allocator args attempt bandwidth base baseTimeNanoseconds "
    "block blocks bp bytes cat cbid cid computeMajor computeMinor config "
    "context "
    "corr correlation count cupti current data desc device deviceProperties "
    "displayTimeUnit distributedInfo driver dst dtype dur env est event "
    "external "
    "flow function gpu graph grid group hash host hostname id index info input "
    "is job kernel kind labels linkage logical "
    "maxSharedMemoryPerMultiProcessor "
    "maxThreadsPerBlock maxThreadsPerMultiprocessor memory metadata module msg "
    "name nelems node num numSms occupancy on op out params per pg ph pid "
    "profiler ptr queued ranks raw record registers regsPerBlock "
    "regsPerMultiprocessor roctracer runtime schemaVersion shape shapes shared "
    "sharedMemPerBlock sharedMemPerBlockOptin sharedMemPerMultiprocessor size "
    "sort split src stack step stride sync tid timestamp torch totalGlobalMem "
    "trace traceEvents traceName ts tw type use user version wait warmups "
    "warpSize warps with world sdk rocprofiler M f s i b n p u t SM AC parent "
    "backend undefined default hsa";

bool IsLetter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Calls `take` with each run of letters.
template <typename Take>
void ForWords(std::string_view text, const Take& take) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsLetter(text[end])) ++end;
    if (end > at) take(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

bool IsPunctuation(char c) {
  return std::string_view(" _-()[]#:,=<>*?.%").find(c) !=
         std::string_view::npos;
}

/// Bytes of what begins at `at` and consists of four or more numbers with one
/// of `between` between them: an IPv4 address, a MAC, a date. 0: none.
size_t AddressAt(std::string_view text, size_t at) {
  size_t numbers = 0, end = at;
  while (end < text.size() && IsDigit(text[end])) {
    while (end < text.size() && IsDigit(text[end])) ++end;
    ++numbers;
    if (end + 1 >= text.size() || !IsDigit(text[end + 1])) break;
    if (text[end] != '.' && text[end] != ':' && text[end] != '-') break;
    ++end;
  }
  return numbers >= 4 ? end - at : 0;
}

bool HasAddress(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins =
        IsDigit(text[at]) && (at == 0 || !IsDigit(text[at - 1]));
    if (begins && AddressAt(text, at) > 0) return true;
  }
  return false;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// What a placeholder is called: a help for readers, no decision.
std::string_view KindOf(std::string_view text, const std::string& key) {
  if (Has(text, "://")) return "url";
  if (Has(text, "@")) return "mail";
  if (Has(text, "/") || Has(text, "\\") || Has(text, ".py")) return "path";
  if (text.starts_with("hf_") || text.starts_with("sk-")) return "token";
  if (HasAddress(text)) return "address";
  if (Has(key, "host") || Has(key, "node")) return "host";
  if (Has(key, "user")) return "user";
  if (Has(key, "job")) return "job";
  if (Has(key, "cmd") || Has(key, "command") || Has(key, "argv"))
    return "command";
  return "text";
}

}  // namespace

Placeholders::Placeholders(bool keep_originals)
    : keep_originals_(keep_originals) {
  const auto add = [this](std::string_view word) { words_.emplace(word); };
  ForWords(kWords, add);
  for (const MarkerRule& rule : MarkerRules::Builtin().rules())
    for (const MarkerExample& example : rule.examples)
      ForWords(example.text, add);
}

bool Placeholders::IsPublic(std::string_view text) const {
  constexpr size_t kMostBytes = 512, kMostDigits = 20;
  if (text == "N/A") return true;
  if (text.size() > kMostBytes || HasAddress(text)) return false;
  // One of PyTorch's fields is called "memory bandwidth (GB/s)".
  constexpr std::string_view kRate = " (GB/s)";
  if (text.ends_with(kRate)) text.remove_suffix(kRate.size());
  size_t digits = 0;
  for (const char c : text) {
    digits = IsDigit(c) ? digits + 1 : 0;
    if (digits > kMostDigits) return false;
    if (!IsDigit(c) && !IsLetter(c) && !IsPunctuation(c)) return false;
  }
  bool all = true;
  ForWords(text, [&](std::string_view word) {
    all = all && words_.count(std::string(word)) > 0;
  });
  return all;
}

std::string Placeholders::Of(std::string_view text, std::string_view key) {
  // A trace has some 10,000 distinct texts; a hostile one as many as it likes.
  constexpr size_t kMost = 2'000'000;
  ++replaced_;
  const std::string original(text);
  auto found = known_.find(original);
  if (found == known_.end()) {
    const std::string kind(KindOf(text, Lower(key)));
    if (known_.size() >= kMost) return kind + "-more";
    const uint32_t number = ++last_number_[kind];
    Known known{fmt::format("{}-{}", kind, number), list_.size()};
    if (keep_originals_) list_.push_back({original, known.placeholder, 0});
    found = known_.emplace(original, std::move(known)).first;
  }
  if (keep_originals_) ++list_[found->second.listed].count;
  return found->second.placeholder;
}

std::string Placeholders::Cropped(std::string_view text) const {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !IsDigit(text[at - 1]);
    if (const size_t address = begins ? AddressAt(text, at) : 0) {
      out += 'x';
      at += address;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsLetter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (end > at)
      out += words_.count(std::string(word)) > 0 ? word : "x";
    else if (IsDigit(text[at]) || IsPunctuation(text[at]))
      out += text[at];
    at = std::max(end, at + 1);
  }
  return out;
}

}  // namespace inferdiff
