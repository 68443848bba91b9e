// SPDX-License-Identifier: Apache-2.0
// Everything a reader drops, repairs or finds suspicious, by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace inferdiff {

enum class Severity : uint8_t {
  kInfo,      // expected and harmless
  kRepaired,  // the record was kept after a repair
  kDataLoss,  // a record, or part of it, is missing from the result
};

// The one table: constant, stable id, severity, sentence for the user.
// Ids are part of the JSON and of docs/errors.md; they are never renamed.
#define INFERDIFF_COUNTERS(X)                                           \
  X(kMalformedRecord, "malformed_record", kDataLoss,                    \
    "records that could not be parsed were skipped")                    \
  X(kMissingField, "missing_field", kDataLoss,                          \
    "GPU records without a usable time, duration, name or device were " \
    "skipped")                                                          \
  X(kTimeOutOfRange, "time_out_of_range", kDataLoss,                    \
    "records with a time or duration beyond 2^53 us were skipped")      \
  X(kTruncatedInput, "truncated_input", kDataLoss,                      \
    "the input ends in the middle; what came before the cut was read")  \
  X(kCorruptCompression, "corrupt_compression", kDataLoss,              \
    "compressed data is damaged; what could be inflated was read")      \
  X(kDamagedTable, "damaged_table", kDataLoss,                          \
    "tables of the database are damaged; what came before was read")    \
  X(kGraphAsWhole, "graph_as_whole", kDataLoss,                         \
    "graph launches were captured without the kernels in them: "        \
    "capture again with nsys profile --cuda-graph-trace=node")          \
  X(kSkippedBytes, "skipped_bytes", kDataLoss,                          \
    "bytes between records that belong to no record were skipped")      \
  X(kNegativeDuration, "negative_duration", kRepaired,                  \
    "negative durations were set to 0")                                 \
  X(kAbsurdDuration, "absurd_duration", kInfo,                          \
    "GPU records are longer than the rest of the trace together")       \
  X(kClampedStart, "clamped_start", kInfo,                              \
    "GPU records start at exactly 0: the profiler clamped their time")  \
  X(kInvalidUtf8, "invalid_utf8", kRepaired,                            \
    "invalid UTF-8 in kept names was replaced")                         \
  X(kControlCharacter, "control_character", kRepaired,                  \
    "control characters inside strings were kept as they are")          \
  X(kUnescapedQuote, "unescaped_quote", kRepaired,                      \
    "names with unescaped quotes were recovered")                       \
  X(kDanglingName, "dangling_name", kRepaired,                          \
    "records with a name that the file does not have were kept")        \
  X(kRepeatedRecord, "repeated_record", kRepaired,                      \
    "records that stand in the file twice were counted once")           \
  X(kOpenRange, "open_range", kInfo,                                    \
    "named ranges without an end were left out")                        \
  X(kNonFiniteNumber, "non_finite_number", kRepaired,                   \
    "bare inf or nan in ignored fields was accepted")                   \
  X(kUnclearFraction, "unclear_fraction", kInfo,                        \
    "fractions of a microsecond may lack their leading zeros")          \
  X(kHugeInteger, "huge_integer", kRepaired,                            \
    "integers beyond 64 bits in ignored fields were accepted")          \
  X(kUnclearLane, "unclear_lane", kRepaired,                            \
    "GPU records without a stream were put on a lane of their own")     \
  X(kGraphCapture, "graph_capture", kInfo,                              \
    "graphs were captured: launches in a capture do not run")           \
  X(kLongName, "long_name", kInfo, "names are longer than 16 kB")       \
  X(kUnlinkedOp, "unlinked_op", kInfo,                                  \
    "GPU records have no launch call in the trace")                     \
  X(kDuplicateCorrelation, "duplicate_correlation", kInfo,              \
    "several launch calls share one correlation id; the first was used")

enum class Counter : uint8_t {
#define X(constant, id, severity, sentence) constant,
  INFERDIFF_COUNTERS(X)
#undef X
      kCount
};

struct CounterInfo {
  std::string_view id;
  Severity severity;
  std::string_view sentence;
};

const CounterInfo& InfoOf(Counter counter);

/// Counts by Counter. Addition is commutative, so windows read in parallel
/// give the same totals for any number of threads.
class ImportCounters {
 public:
  void Add(Counter counter, uint64_t n = 1) {
    counts_[static_cast<size_t>(counter)] += n;
  }
  uint64_t operator[](Counter counter) const {
    return counts_[static_cast<size_t>(counter)];
  }
  /// Of all counters of this severity.
  uint64_t Total(Severity severity) const {
    uint64_t total = 0;
    for (size_t i = 0; i < counts_.size(); ++i)
      if (InfoOf(static_cast<Counter>(i)).severity == severity)
        total += counts_[i];
    return total;
  }
  void Merge(const ImportCounters& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

 private:
  std::array<uint64_t, static_cast<size_t>(Counter::kCount)> counts_{};
};

}  // namespace inferdiff
