// SPDX-License-Identifier: Apache-2.0
// Records of a rocprof file on their way from the thread that reads them to the
// columns of the model (rocprof_assemble.h), names and places by number. A
// thread numbers them on its own (RocprofLexicon); the numbers of the model are
// given as stretches are taken, in the order of the file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "model/counters.h"
#include "readers/host_calls.h"
#include "readers/trace_sink.h"

namespace inferdiff {

/// Names and places as one thread met them, as they stand in the file.
struct RocprofLexicon {
  StringPool names;
  std::vector<NameUse> use_of_name;  // by name; may lag behind names.size()
  StringPool lanes;                  // RocprofLane::Key
  StringPool threads;                // process, '\x1f', thread
  struct Recent {
    std::string_view text;  // in names
    uint32_t name = 0;
  };
  std::array<Recent, 128> recent;

  /// As names.Intern, faster for what came a short time ago.
  uint32_t NameOf(std::string_view text) {
    const auto byte = [&](size_t at) {
      return static_cast<unsigned char>(text[at]);
    };
    if (text.empty()) return names.Intern(text);
    const size_t slot =
        (text.size() + byte(text.size() / 2) * 5U + byte(text.size() - 1)) %
        recent.size();
    Recent& last = recent[slot];
    if (last.text != text || last.text.empty()) {
      last.name = names.Intern(text);
      last.text = names[last.name];
    }
    return last.name;
  }
  NameUse UseOf(uint32_t name) {
    while (use_of_name.size() <= name) {
      use_of_name.push_back(
          UseOfCall(names[static_cast<NameId>(use_of_name.size())]));
    }
    return use_of_name[name];
  }
};

/// Where an op ran: the texts of the columns, in this order, between '\x1f'.
/// What the file does not say is empty.
struct RocprofLane {
  std::string_view process, agent, queue, stream;

  void AppendKey(std::string* key) const {
    for (const std::string_view part : {process, agent, queue, stream}) {
      key->append(part);
      key->push_back('\x1f');
    }
  }
};

/// A number that a batch uses, and what it stands for in its thread's lexicon.
template <typename Meaning>
struct RocprofUse {
  uint32_t number = 0;
  Meaning meaning{};
};

/// Tells the numbers that a batch has not used so far.
class RocprofUses {
 public:
  bool IsFirst(uint32_t number) {
    if (last_.size() <= number) last_.resize(number + size_t{64}, 0);
    return std::exchange(last_[number], batch_) != batch_;
  }
  void NextBatch() { ++batch_; }

 private:
  std::vector<uint64_t> last_;  // batch that used it, by number
  uint64_t batch_ = 1;
};

/// The records of one stretch of a file. Numbers are those of one thread, which
/// goes on counting meanwhile: what they mean is here, in the order of their
/// first use; texts stay where they are for the thread's life.
struct RocprofBatch {
  std::vector<TraceSink::Op> ops;
  std::vector<TraceSink::Call> calls;
  std::vector<TraceSink::Call> ranges;  // kind unused
  std::vector<RocprofUse<std::string_view>> names, lanes, threads;
  const RocprofLexicon* lexicon = nullptr;  // to tell threads apart
  uint64_t ordinals = 0;  // lines or records passed; theirs count from 0
  std::string process;    // of the first call that names one
  ImportCounters counters;

  /// Empties it; memory stays.
  void Restart() {
    ops.clear();
    calls.clear();
    ranges.clear();
    names.clear();
    lanes.clear();
    threads.clear();
    lexicon = nullptr;
    ordinals = 0;
    process.clear();
    counters = {};
  }
};

/// An agent (a processor) of the host.
struct RocprofAgent {
  int64_t node = -1;     // of the kernel driver
  int64_t logical = -1;  // among the visible ones
  bool is_gpu = false;
  std::string name;     // "gfx942"
  std::string product;  // "AMD Instinct MI300X"
  int64_t cu_count = 0;
};

}  // namespace inferdiff
