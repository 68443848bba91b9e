// SPDX-License-Identifier: Apache-2.0
// The objects of rocprofv3's JSON, as one thread meets them in a stretch of the
// file. Records become rows; what other objects say holds for records in front
// of them, too, so it is kept for the end (rocprof_process.h).
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/json_objects.h"
#include "readers/rocprof_fields.h"
#include "readers/rocprof_records.h"

namespace inferdiff {

/// The array that an object stands in, by its key.
enum class RocprofArray : uint8_t {
  kNowhere,  // in none
  kOther,    // in one that nobody asks for
  kKernels,
  kCopies,
  kCalls,
  kMarkers,  // the strings' messages, or records
  kSymbols,
  kKinds,
  kAgents,
  kMetadata,  // no array: the object itself
};

/// A kind of records and its operations: views, as JSON writes them.
struct RocprofKind {
  std::string_view name;
  std::vector<std::string_view> operations;
};
/// False: the object is malformed.
bool ParseRocprofKind(std::string_view text, RocprofKind* kind);

/// Handles of agents, queue and stream of an op; of a copy the agents are
/// source and destination.
struct RocprofPlace {
  uint64_t agent = 0, destination = 0, queue = 0, stream = 0;
  bool has_stream = false;
  bool is_copy = false;
  auto operator<=>(const RocprofPlace&) const = default;
};

/// What one thread numbers.
struct RocprofNumbers {
  StringPool texts;  // of symbols and messages, as JSON writes them
  std::vector<RocprofPlace> places;
  std::vector<int64_t> threads;
};

/// What a stretch holds of one process. Names of kernels are their ids, those
/// of copies, calls and ranges are codes (RocprofCodeOf); lanes are places.
/// Those and threads are numbered by a thread, which goes on counting
/// meanwhile: what they mean is here, in the order of their first use.
struct RocprofPart {
  bool begins = false;             // the process begins here
  std::vector<TraceSink::Op> ops;  // kernels and copies
  std::vector<TraceSink::Call> calls, ranges;
  std::vector<RocprofUse<RocprofPlace>> places;
  std::vector<RocprofUse<int64_t>> threads;
  // Kernel ids, or correlations, and their texts, which stay where they are
  // for the thread's life.
  std::vector<std::pair<uint32_t, std::string_view>> symbols;
  std::vector<std::pair<int64_t, std::string_view>> messages;
  /// As written, and kTextPadding spaces.
  std::vector<std::pair<RocprofArray, std::string>> others;
  const RocprofNumbers* numbers = nullptr;  // to tell threads apart

  /// Empties it; memory of records stays.
  void Restart();
};

/// Of records, which go on from stretch to stretch and process to process.
struct RocprofOrdinals {
  uint64_t kernels = 0, copies = 0, calls = 0, ranges = 0;
};

struct RocprofStretch {
  std::vector<RocprofPart> parts;
  RocprofOrdinals passed;  // ordinals of the records count from its begin
  JsonNesting nesting;
  ImportCounters counters;

  void Restart();
};

/// Kernel ids count from 0, one a symbol.
inline constexpr uint64_t kMostRocprofSymbols = uint64_t{1} << 22;

/// Kind and operation of a record in one number.
inline uint32_t RocprofCodeOf(uint64_t kind, uint64_t operation) {
  constexpr uint64_t kMost = 0xffff;
  return static_cast<uint32_t>(std::min(kind, kMost) << 16 |
                               std::min(operation, kMost));
}

/// Walks stretches, for one thread (window_scan.h).
class RocprofObjects : private JsonObjectSink {
 public:
  using Batch = RocprofStretch;

  /// What a process says of the kinds, as far as needed to guess an array and
  /// to pass calls that nobody asks for.
  struct KindUse {
    RocprofArray array = RocprofArray::kOther;
    std::vector<bool> kept;  // by operation
    bool operator==(const KindUse&) const = default;
  };
  using Kinds = std::vector<std::shared_ptr<const KindUse>>;

  struct State {
    bool lost = false;  // within an object that was given up
    bool open = false;  // between objects of an array
    RocprofArray array = RocprofArray::kNowhere;  // that one, or the last
    std::shared_ptr<const Kinds> kinds;
    bool operator==(const State& other) const;
  };

  /// `kinds`: what a guess takes for granted.
  explicit RocprofObjects(std::shared_ptr<const Kinds> kinds)
      : kinds_(std::move(kinds)), objects_(this) {}

  /// Behind an object with a record behind it.
  size_t Guess(std::string_view text, size_t from, State* state) const;
  WalkEnd Walk(std::string_view text, size_t from, size_t limit, bool final,
               State* state, RocprofStretch* stretch);
  void End();

 private:
  bool Enter(std::string_view text, size_t brace) override;
  void Leave() override { state_->open = false; }
  void Take(std::string_view object) override;
  size_t TakeAlike(std::string_view text, size_t at, size_t limit) override;
  size_t FindStart(std::string_view text, size_t at) const override;

  void SetArray(std::string_view key);
  void NoteKind(std::string_view text);
  bool TakeMessage(std::string_view text);
  bool TakeSymbol(std::string_view text);
  bool TakeOp(std::string_view text, bool is_copy);
  bool TakeCall(std::string_view text, bool is_range);
  void KeepOp(const RocprofFields& fields, bool is_copy, uint64_t ordinal);
  void KeepCall(const RocprofFields& fields, bool is_range, uint64_t ordinal);
  bool IsKept(uint64_t kind, uint64_t operation) const;
  /// A copy that stays where it is.
  std::string_view Text(std::string_view text) {
    return numbers_.texts[numbers_.texts.Intern(text)];
  }
  uint32_t PlaceNumber(const RocprofPlace& place);
  uint32_t ThreadNumber(int64_t thread);
  RocprofPart& part() { return stretch_->parts.back(); }
  void NextPart();

  std::shared_ptr<const Kinds> kinds_;
  JsonObjects objects_;
  State* state_ = nullptr;
  RocprofStretch* stretch_ = nullptr;
  RocprofArray taken_ = RocprofArray::kNowhere;  // of the object to take

  std::array<RocprofLayout, 4> layouts_;  // ops, copies, calls, ranges

  RocprofNumbers numbers_;
  std::map<RocprofPlace, uint32_t> place_index_;
  std::map<int64_t, uint32_t> thread_index_;
  RocprofUses used_places_, used_threads_;  // of the part
  uint32_t last_place_ = 0;
  uint32_t last_thread_ = 0;
};

}  // namespace inferdiff
