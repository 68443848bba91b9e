// SPDX-License-Identifier: Apache-2.0
// What rocprofv3's JSON says of one process, put together: its parts come in
// the order of the file, what stands in them in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/rocprof_objects.h"
#include "readers/rocprof_records.h"

namespace inferdiff {

class RocprofProcess {
 public:
  explicit RocprofProcess(RocprofLexicon* lexicon) : lexicon_(lexicon) {}

  /// `first`: ordinals of the first records of the part's stretch. What its
  /// threads numbered must outlive this.
  void Add(RocprofPart part, const RocprofOrdinals& first,
           ImportCounters* counters);

  /// When all is there: appends the records, their names and places resolved,
  /// names as JSON writes them, and the agents. Ordinals are the file's.
  void Finish(std::vector<RocprofBatch>* batches,
              std::vector<RocprofAgent>* agents);

 private:
  struct Kind {
    std::string_view name;  // in the lexicon, as are the operations
    std::vector<NameId> operations;
  };
  struct Symbol {
    std::string_view text;
    bool known = false;
    NameId name = kNone;  // in the lexicon, once it was asked for
  };
  struct Part {
    RocprofPart rows;
    RocprofOrdinals first;
  };
  /// Numbers of a thread -> numbers of the lexicon; kNone: not met yet.
  struct Numbers {
    std::vector<uint32_t> lanes, threads;
  };

  bool TakeMetadata(std::string_view text);
  bool TakeAgent(std::string_view text);
  bool TakeKind(std::string_view text);
  std::string_view KindName(uint32_t code) const;
  NameId OperationName(uint32_t code) const;
  NameId SymbolName(uint32_t kernel);
  NameId MessageOf(int64_t correlation);
  uint32_t LaneOf(const RocprofNumbers& numbers, uint32_t place);
  uint32_t ThreadOf(const RocprofNumbers& numbers, uint32_t thread);
  RocprofBatch BatchOfOps(const Part& part, bool copies);
  RocprofBatch BatchOfCalls(Part* part);
  RocprofBatch BatchOfRanges(Part* part);

  RocprofLexicon* lexicon_;
  std::vector<Part> parts_;
  std::map<const RocprofNumbers*, Numbers> numbers_;
  std::string pid_;
  std::vector<std::pair<uint64_t, RocprofAgent>> agents_;  // by handle
  std::vector<Kind> kinds_;
  std::vector<Symbol> symbols_;                                 // by kernel id
  std::vector<std::pair<int64_t, std::string_view>> messages_;  // correlation
};

}  // namespace inferdiff
