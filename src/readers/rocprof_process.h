// SPDX-License-Identifier: Apache-2.0
// What rocprofv3's JSON says of one process, object by object, in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/rocprof_records.h"

namespace inferdiff {

class RocprofProcess {
 public:
  /// Ordinals of records go on from process to process.
  struct Ordinals {
    uint64_t kernels = 0, copies = 0, calls = 0, ranges = 0;
  };

  RocprofProcess(RocprofLexicon* lexicon, Ordinals* ordinals)
      : lexicon_(lexicon), ordinals_(ordinals) {
    batch_.lexicon = lexicon;
  }

  /// `key` as in RocprofJsonSink. False: the object is malformed.
  bool Take(std::string_view key, std::string_view text);

  /// When all is there: the records, their names and places resolved, names as
  /// JSON writes them. Appends the agents.
  RocprofBatch Finish(std::vector<RocprofAgent>* agents);

 private:
  struct Kind {
    std::string_view name;  // in the lexicon, as are the operations
    std::vector<NameId> operations;
  };
  /// Handles of agents, queue and stream of an op; of a copy the agents are
  /// source and destination.
  struct Place {
    uint64_t agent = 0, destination = 0, queue = 0, stream = 0;
    bool has_stream = false;
    bool is_copy = false;
    bool operator<(const Place& other) const;
  };
  struct Fields;

  bool TakeMetadata(std::string_view text);
  bool TakeAgent(std::string_view text);
  bool TakeKind(std::string_view text);
  bool TakeMessage(std::string_view text);
  bool TakeSymbol(std::string_view text);
  bool TakeOp(std::string_view text, bool is_copy);
  bool TakeCall(std::string_view text, bool is_range);
  bool ReadRecord(std::string_view text, Fields* fields);
  bool IsKept(uint64_t kind, uint64_t operation);
  uint32_t PlaceNumber(const Place& place);
  std::string_view KindName(uint32_t code) const;
  NameId OperationName(uint32_t code) const;
  NameId MessageOf(int64_t correlation) const;
  std::vector<uint32_t> NumberPlaces();
  void FinishOps();
  void FinishCalls();

  RocprofLexicon* lexicon_;
  Ordinals* ordinals_;
  RocprofBatch batch_;                 // names are kernel ids, lanes are places
  std::vector<TraceSink::Op> copies_;  // names are codes
  std::vector<TraceSink::Call> calls_;   // names are codes
  std::vector<TraceSink::Call> ranges_;  // names are codes

  std::string pid_;
  std::vector<std::pair<uint64_t, RocprofAgent>> agents_;  // by handle
  std::vector<Kind> kinds_;
  std::vector<std::pair<int64_t, NameId>> messages_;  // by correlation
  std::vector<NameId> symbols_;                       // by kernel id
  std::vector<Place> places_;
  std::map<Place, uint32_t> place_index_;
  uint32_t last_place_ = 0;
  std::vector<std::pair<int64_t, uint32_t>> threads_;  // id, in the lexicon
};

}  // namespace inferdiff
