// SPDX-License-Identifier: Apache-2.0
// What scanning leaves behind: compact records in file order, names and tracks
// by number. A thread numbers them on its own (Lexicon); the numbers of the
// model are given at the end, in an order that depends on the file alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/string_pool.h"
#include "model/counters.h"
#include "model/trace.h"
#include "readers/host_calls.h"
#include "readers/kineto_event.h"

namespace inferdiff {

/// What a named range stands on; the profiler's own work is none of the model's
/// annotations.
enum class RangeKind : uint8_t { kHost, kGpu, kProfiler };

/// A GPU activity, a host call or an annotation. 40 bytes: half of what a GPU
/// op may cost while a file is read.
struct EventRecord {
  int64_t start_ns;
  int64_t dur_ns;
  int64_t correlation;  // 0 = none; unused by annotations
  uint32_t name;        // in the lexicon, escapes not resolved
  uint32_t track;       // in the lexicon
  uint32_t ordinal_low;
  uint8_t ordinal_high;
  uint8_t kind;  // OpKind, CallKind or RangeKind
  /// Fraction digits of start (low nibble) and duration as written.
  uint8_t digits;

  uint64_t ordinal() const {
    return uint64_t{ordinal_high} << 32 | ordinal_low;
  }
  void set_ordinal(uint64_t ordinal) {
    ordinal_low = static_cast<uint32_t>(ordinal);
    ordinal_high = static_cast<uint8_t>(ordinal >> 32);
  }
};
static_assert(sizeof(EventRecord) == 40);

/// Names and tracks as one thread met them.
struct Lexicon {
  StringPool names;
  std::vector<NameUse> use_of_name;  // by name; may lag behind names.size()
  StringPool track_keys;             // pid, '\x1f', tid

  /// The track that an event stands on.
  uint32_t TrackOf(const EventFields& fields, bool on_gpu);
  NameUse UseOf(uint32_t name);
  /// Interns the name of a GPU's or the host's event.
  uint32_t NameOf(std::string_view text, bool on_gpu);

  /// The same names follow each other from step to step: per side, the name of
  /// the last event, and by name the one that came next the last time.
  struct NameChain {
    uint32_t last = 0;
    std::vector<uint32_t> next;
  };
  std::array<NameChain, 2> chains;

  /// Most events stand on few tracks: the last ones, by the tid's last digit
  /// and whether it is a GPU's.
  struct SeenTrack {
    bool known = false;
    bool has_device = false;
    std::string pid, tid, device;  // as written
    uint32_t track = 0;
  };
  std::array<SeenTrack, 16> seen_tracks;
};

/// Evidence on whether the writer padded its fractions to three digits.
struct FractionEvidence {
  bool padded = false;     // a fraction such as .05: leading zeros are written
  bool unpadded = false;   // such as .50 or .5 beside .120: they are not
  bool short_one = false;  // fewer than three digits
  bool full_trailing_zero = false;  // three digits, the last one 0

  void Note(const DecimalTime& time);
  void Merge(const FractionEvidence& other);
  /// A writer that drops trailing zeros never ends three digits with one; one
  /// that drops leading zeros does.
  bool Unpadded() const {
    return !padded && (unpadded || (short_one && full_trailing_zero));
  }
  /// Short fractions, and nothing that tells what they mean.
  bool Undecided() const { return short_one && !padded && !Unpadded(); }
};

/// What a collective's args say of its process group.
struct GroupRecord {
  uint32_t op = 0;    // index in the batch's ops
  uint32_t text = 0;  // in the lexicon: name and ranks, escapes not resolved
};

/// What is known of one stretch of the file beside its records.
struct BatchFacts {
  uint64_t elements = 0;  // of traceEvents, good or bad
  ImportCounters counters;
  FractionEvidence fractions;
  std::vector<GroupRecord> groups;  // by op; most files state none
  Lexicon* lexicon = nullptr;
};

/// The stretch that is being read.
struct RecordBatch : BatchFacts {
  std::vector<EventRecord> ops, calls, annotations;

  /// For the next stretch; the memory stays.
  void Restart();
};

/// A stretch that was read, its records in a RecordStore.
struct StoredBatch : BatchFacts {
  std::span<EventRecord> ops, calls, annotations;
};

/// Records of many stretches in few large blocks, which cost fewer page faults
/// than arrays of their own.
class RecordStore {
 public:
  StoredBatch Keep(const RecordBatch& batch);
  /// The ops of all batches are gone.
  void DropOps() { ops_.clear(); }

 private:
  struct Block {
    std::unique_ptr<void, FreeMemory> memory;
    size_t size = 0;
    size_t capacity = 0;
  };
  static std::span<EventRecord> Store(const std::vector<EventRecord>& records,
                                      std::vector<Block>* blocks);
  std::vector<Block> ops_, host_;
};

/// Turns the fields of an X event into a record, or into a count.
void AddEvent(const EventFields& fields, EventKind kind, uint64_t ordinal,
              RecordBatch* batch);

/// The same where start and duration are parsed already.
void AddTimedEvent(const EventFields& fields, DecimalTime start,
                   DecimalTime dur, EventKind kind, uint64_t ordinal,
                   RecordBatch* batch);

}  // namespace inferdiff
