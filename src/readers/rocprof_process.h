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

#include "readers/host_calls.h"
#include "readers/rocprof_assemble.h"
#include "readers/rocprof_objects.h"
#include "readers/rocprof_records.h"

namespace inferdiff {

class RocprofProcess {
 public:
  explicit RocprofProcess(RocprofAssembler* assembler)
      : assembler_(assembler) {}

  /// Where a part stands: ordinals of the first records of its stretch, and
  /// the share of the file in front of that.
  struct Place {
    RocprofOrdinals first;
    double share = 0;
  };
  /// Parts in the order of the file. What their threads numbered must outlive
  /// this.
  void Add(const RocprofPart& part, const Place& place,
           ImportCounters* counters);

  /// When all is there: hands on the records, their names and places resolved,
  /// and appends the agents.
  void Finish(std::vector<RocprofAgent>* agents, ImportCounters* counters);

 private:
  struct Kind {
    std::string name;
    std::vector<std::string> operations;  // as JSON writes them
  };
  struct Symbol {
    std::string_view text;
    bool known = false;
    NameId name = kNone;  // once it was asked for
  };
  /// An operation of a kind, as a call has it.
  struct Operation {
    bool known = false;
    std::string_view text;
    NameUse use;          // unless it is of another runtime
    NameId name = kNone;  // once it was asked for
  };
  /// Numbers of a thread -> numbers of this; kNone: not met yet.
  struct Numbers {
    std::vector<uint32_t> places, threads;
  };

  bool TakeMetadata(std::string_view text);
  bool TakeAgent(std::string_view text);
  bool TakeKind(std::string_view text);
  void AddOps(const RocprofPart& part, const Place& place,
              const Numbers& numbers, ImportCounters* counters);
  void AddCalls(const RocprofPart& part, const Place& place,
                const Numbers& numbers, ImportCounters* counters);
  Operation& OperationOf(uint32_t code);
  NameId NameOf(Operation* operation);
  NameId SymbolName(uint32_t kernel);
  NameId CopyName(uint32_t code);
  std::string_view MessageOf(int64_t correlation) const;
  uint32_t LaneOf(const RocprofPlace& place);
  uint32_t ThreadOf(uint32_t thread);
  void FinishOps();
  void FinishCalls(ImportCounters* counters);
  void FinishRanges();

  RocprofAssembler* assembler_;
  OpColumns ops_;  // name: kernel id or code, lane: index in places_
  RowForecast op_forecast_, call_forecast_;
  // name: code, thread: index in threads_.
  std::vector<TraceSink::Call> calls_, ranges_;
  std::vector<RocprofPlace> places_;
  std::map<RocprofPlace, uint32_t> place_index_;
  std::vector<int64_t> threads_;
  std::map<int64_t, uint32_t> thread_index_;
  std::vector<uint32_t> thread_of_;  // of the assembler; kNone: not asked for
  std::map<const RocprofNumbers*, Numbers> numbers_;

  std::string pid_;
  std::vector<std::pair<uint64_t, RocprofAgent>> agents_;  // by handle
  std::vector<Kind> kinds_;
  std::map<uint32_t, Operation> operations_;                    // by code
  std::vector<Symbol> symbols_;                                 // by kernel id
  std::vector<std::pair<int64_t, std::string_view>> messages_;  // correlation
};

}  // namespace inferdiff
