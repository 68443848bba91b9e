// SPDX-License-Identifier: Apache-2.0
#include "readers/foreign_files.h"

#include <cstddef>
#include <cstdint>

#include "readers/rocprof_rows.h"

namespace inferdiff {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// The length that a protobuf message of field 1 at `at` states, and where its
/// contents begin; false: there is none.
bool ReadLength(std::string_view text, size_t* at, uint64_t* length) {
  constexpr char kField1 = '\x0a';
  if (*at >= text.size() || text[*at] != kField1) return false;
  *length = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (++*at >= text.size()) return false;
    const auto byte = static_cast<unsigned char>(text[*at]);
    *length |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) {
      ++*at;
      return true;
    }
  }
  return false;
}

/// Perfetto: packets of field 1, one behind the other.
bool IsPerfetto(std::string_view head) {
  constexpr int kEnough = 3;
  size_t at = 0;
  for (int packets = 0; packets < kEnough; ++packets) {
    if (at == head.size() && packets > 0) return true;
    uint64_t length = 0;
    if (!ReadLength(head, &at, &length) || length == 0) return false;
    // A packet's own first field: its number is below 2048, its type a legal
    // one.
    if (at >= head.size() || (head[at] & 7) > 5) return false;
    if (length > head.size() - at) return packets > 0;
    at += length;
  }
  return true;
}

/// XLA's planes: field 1 with an id and a name such as /device:GPU:0.
bool IsXplane(std::string_view head) {
  size_t at = 0;
  uint64_t length = 0;
  constexpr size_t kNameWithin = 64;
  if (!ReadLength(head, &at, &length)) return false;
  const std::string_view plane = head.substr(at, kNameWithin);
  return Contains(plane, "/host:") || Contains(plane, "/device:") ||
         Contains(plane, "Task Environment");
}

/// Triton Proton's tree: [{"children": [...], "frame": {...}, ...
bool IsHatchet(std::string_view head) {
  const size_t first = head.find_first_not_of(" \n\r\t");
  return first != head.npos && head[first] == '[' &&
         Contains(head, "\"frame\"") && Contains(head, "\"metrics\"") &&
         Contains(head, "\"children\"");
}

/// Of `--format json`: {"schema": 1, "kind": "ledger", "version": ...
bool IsOwnDocument(std::string_view head) {
  constexpr size_t kWithin = 256;
  const std::string_view begin = head.substr(0, kWithin);
  return StartsWith(begin, "{") && Contains(begin, "\"schema\"") &&
         Contains(begin, "\"kind\"") && Contains(begin, "\"rules_hash\"");
}

}  // namespace

std::optional<ForeignFile> FindForeignFile(std::string_view head) {
  if (IsXplane(head)) {
    return ForeignFile{
        "the file is an XLA profile (xplane.pb), which only its viewers read",
        "name the .trace.json.gz that JAX and TensorFlow write beside it"};
  }
  if (IsPerfetto(head)) {
    return ForeignFile{
        "the file is a Perfetto trace (.pftrace), whose writer moves the times "
        "of kernels that overlap",
        "capture again with rocprofv3 --output-format rocpd, csv or json"};
  }
  if (IsOwnDocument(head)) {
    return ForeignFile{
        "the file is the JSON of an inferdiff command, not a trace",
        "name the trace; the JSON of `ledger` can be a side of `compare`"};
  }
  if (StartsWith(head, std::string_view("NVR\0", 4))) {
    return ForeignFile{
        "the file is an Nsight Compute report: counters of single kernels, "
        "which ran apart from the rest",
        "capture a timeline: nsys profile --cuda-graph-trace=node, then nsys "
        "export --type sqlite"};
  }
  if (StartsWith(head, "PAR1")) {
    return ForeignFile{"the file is a Parquet table",
                       "export the report again: nsys export --type sqlite"};
  }
  if (IsHatchet(head)) {
    return ForeignFile{
        "the file is a Proton tree: totals of call paths, without times",
        "capture a timeline: proton.start(name, data=\"trace\")"};
  }
  constexpr std::string_view kKernels =
      "name the kernel_trace.csv of the run (rocprofv3 --kernel-trace "
      "--output-format csv)";
  switch (RowKindOf(CsvHeader(head))) {
    case RocprofRowKind::kCounters:
      return ForeignFile{
          "the table holds hardware counters, a row a counter, of kernels "
          "that were run one by one",
          kKernels};
    case RocprofRowKind::kSummary:
      return ForeignFile{
          "the table holds no operations of the GPU with their times",
          kKernels};
    default:
      return std::nullopt;
  }
}

}  // namespace inferdiff
