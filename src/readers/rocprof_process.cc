// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_process.h"

#include <fmt/core.h>

#include <algorithm>

#include "readers/json_fields.h"
#include "readers/kineto_event_reader.h"
#include "readers/rocprof_number.h"

namespace inferdiff {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The number of `meaning`, which a thread gave one of its own.
template <typename Meaning>
void NumberAs(uint32_t own, const Meaning& meaning,
              std::vector<uint32_t>* numbers,
              std::map<Meaning, uint32_t>* index,
              std::vector<Meaning>* meanings) {
  if (numbers->size() <= own) numbers->resize(own + size_t{16}, kNone);
  uint32_t& number = (*numbers)[own];
  if (number != kNone) return;
  const auto [at, added] =
      index->emplace(meaning, static_cast<uint32_t>(meanings->size()));
  if (added) meanings->push_back(meaning);
  number = at->second;
}

}  // namespace

void RocprofProcess::Add(const RocprofPart& part, const Place& place,
                         ImportCounters* counters) {
  for (const auto& [array, padded] : part.others) {
    const std::string_view text(padded.data(), padded.size() - kTextPadding);
    const bool good = array == RocprofArray::kMetadata ? TakeMetadata(text)
                      : array == RocprofArray::kAgents ? TakeAgent(text)
                                                       : TakeKind(text);
    if (!good) counters->Add(Counter::kMalformedRecord);
  }
  for (const auto& [kernel, text] : part.symbols) {
    if (symbols_.size() <= kernel) symbols_.resize(kernel + size_t{1});
    symbols_[kernel] = {text, true, kNone};
  }
  messages_.insert(messages_.end(), part.messages.begin(), part.messages.end());
  Numbers& numbers = numbers_[part.numbers];
  for (const auto& [number, meaning] : part.places) {
    NumberAs(number, meaning, &numbers.places, &place_index_, &places_);
  }
  for (const auto& [number, meaning] : part.threads) {
    NumberAs(number, meaning, &numbers.threads, &thread_index_, &threads_);
  }
  AddOps(part, place, numbers, counters);
  AddCalls(part, place, numbers, counters);
}

void RocprofProcess::AddOps(const RocprofPart& part, const Place& place,
                            const Numbers& numbers, ImportCounters* counters) {
  if (!part.ops.empty()) {
    ops_.Expect(op_forecast_.Of(ops_.size(), place.share));
  }
  for (const TraceSink::Op& op : part.ops) {
    int64_t end_ns = op.end_ns;
    if (!AcceptTimes(op.start_ns, &end_ns, counters)) continue;
    const bool is_copy = op.kind == OpKind::kMemcpy;
    ops_.Add({op.start_ns, end_ns - op.start_ns, op.correlation,
              op.ordinal + (is_copy ? place.first.copies : place.first.kernels),
              op.name, numbers.places[op.lane], op.kind});
  }
}

void RocprofProcess::AddCalls(const RocprofPart& part, const Place& place,
                              const Numbers& numbers,
                              ImportCounters* counters) {
  if (calls_.size() + part.calls.size() > calls_.capacity()) {
    const size_t expected = call_forecast_.Of(calls_.size(), place.share);
    calls_.reserve(std::max(expected, 2 * (calls_.size() + part.calls.size())));
  }
  for (TraceSink::Call call : part.calls) {
    if (!AcceptTimes(call.start_ns, &call.end_ns, counters)) continue;
    call.ordinal += place.first.calls;
    call.thread = numbers.threads[call.thread];
    calls_.push_back(call);
  }
  for (TraceSink::Call range : part.ranges) {
    range.ordinal += place.first.ranges;
    range.thread = numbers.threads[range.thread];
    ranges_.push_back(range);
  }
}

bool RocprofProcess::TakeMetadata(std::string_view text) {
  return ForEachField(text, [&](std::string_view parent, std::string_view key,
                                std::string_view value, bool) {
    if (parent.empty() && key == "pid") pid_ = value;
  });
}

bool RocprofProcess::TakeAgent(std::string_view text) {
  uint64_t handle = 0;
  RocprofAgent agent;
  const bool good =
      ForEachField(text, [&](std::string_view parent, std::string_view key,
                             std::string_view value, bool) {
        if (parent == "id" && key == "handle")
          ReadRocprofNumber(value, &handle);
        if (!parent.empty()) return;
        if (key == "node_id") ReadRocprofNumber(value, &agent.node);
        if (key == "logical_node_id") ReadRocprofNumber(value, &agent.logical);
        if (key == "type") agent.is_gpu = value == "2";
        if (key == "name") agent.name = value;
        if (key == "product_name") agent.product = value;
        if (key == "cu_count") ReadRocprofNumber(value, &agent.cu_count);
      });
  if (agent.logical < 0) agent.logical = agent.node;
  if (good) agents_.emplace_back(handle, std::move(agent));
  return good;
}

bool RocprofProcess::TakeKind(std::string_view text) {
  RocprofKind parsed;
  const bool good = ParseRocprofKind(text, &parsed);
  Kind kind;
  kind.name = parsed.name;
  kind.operations.assign(parsed.operations.begin(), parsed.operations.end());
  kinds_.push_back(std::move(kind));  // its number counts, good or bad
  return good;
}

/// Not before all kinds are known.
RocprofProcess::Operation& RocprofProcess::OperationOf(uint32_t code) {
  const auto [at, added] = operations_.try_emplace(code);
  Operation& operation = at->second;
  if (!added || code >> 16 >= kinds_.size()) return operation;
  const Kind& kind = kinds_[code >> 16];
  const uint32_t number = code & 0xffffU;
  if (number >= kind.operations.size()) return operation;
  operation.known = true;
  operation.text = kind.operations[number];
  if (StartsWith(kind.name, "HIP")) operation.use = UseOfCall(operation.text);
  return operation;
}

NameId RocprofProcess::NameOf(Operation* operation) {
  if (operation->name == kNone) {
    operation->name = assembler_->Name(operation->text);
  }
  return operation->name;
}

NameId RocprofProcess::SymbolName(uint32_t kernel) {
  if (kernel >= symbols_.size() || !symbols_[kernel].known) {
    return assembler_->Name(fmt::format("kernel {}", kernel));
  }
  Symbol& symbol = symbols_[kernel];
  if (symbol.name == kNone) symbol.name = assembler_->Name(symbol.text);
  return symbol.name;
}

NameId RocprofProcess::CopyName(uint32_t code) {
  Operation& operation = OperationOf(code);
  if (!operation.known) operation.text = "MEMORY_COPY";
  return NameOf(&operation);
}

/// No data: there is none.
std::string_view RocprofProcess::MessageOf(int64_t correlation) const {
  const auto at =
      std::lower_bound(messages_.begin(), messages_.end(), correlation,
                       [](const auto& message, int64_t wanted) {
                         return message.first < wanted;
                       });
  if (at == messages_.end() || at->first != correlation) return {};
  return at->second;
}

/// An agent is known by its logical number, as in CSV files; a copy is its
/// source's, or the destination's where the source is no GPU.
uint32_t RocprofProcess::LaneOf(const RocprofPlace& place) {
  const auto find = [&](uint64_t handle) -> const RocprofAgent* {
    for (const auto& [known, agent] : agents_)
      if (known == handle) return &agent;
    return nullptr;
  };
  uint64_t handle = place.agent;
  const RocprofAgent* agent = find(handle);
  if (place.is_copy && agent != nullptr && !agent->is_gpu) {
    handle = place.destination;
    agent = find(handle);
  }
  const std::string device = agent == nullptr ? std::to_string(handle)
                                              : std::to_string(agent->logical);
  const std::string queue =
      place.is_copy ? std::string() : std::to_string(place.queue);
  const std::string stream =
      place.has_stream ? std::to_string(place.stream) : std::string();
  std::string key;
  RocprofLane{pid_, device, queue, stream}.AppendKey(&key);
  return assembler_->Lane(key, place.is_copy);
}

uint32_t RocprofProcess::ThreadOf(uint32_t thread) {
  uint32_t& number = thread_of_[thread];
  if (number == kNone) {
    number =
        assembler_->Thread(fmt::format("{}\x1f{}", pid_, threads_[thread]));
  }
  return number;
}

void RocprofProcess::FinishOps() {
  GpuOps ops = ops_.Take();
  // Names of kernels first, so that nothing depends on the arrays' order.
  for (const OpKind kind : {OpKind::kKernel, OpKind::kMemcpy}) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.kind[i] != kind) continue;
      ops.name[i] = kind == OpKind::kKernel ? SymbolName(ops.name[i])
                                            : CopyName(ops.name[i]);
    }
  }
  std::vector<uint32_t> lane_of;
  for (const RocprofPlace& place : places_) lane_of.push_back(LaneOf(place));
  for (uint32_t& lane : ops.lane) lane = lane_of[lane];
  assembler_->AddOps(std::move(ops));
}

void RocprofProcess::FinishCalls(ImportCounters* counters) {
  size_t kept = 0;
  uint32_t last = kNone;
  Operation* operation = nullptr;
  for (TraceSink::Call& call : calls_) {
    if (operation == nullptr || call.name != last) {
      last = call.name;
      operation = &OperationOf(last);
    }
    if (operation->use.begins_capture) counters->Add(Counter::kGraphCapture);
    if (!operation->use.kept) continue;
    TraceSink::Call& to = calls_[kept++];
    to = call;
    to.name = NameOf(operation);
    to.kind = operation->use.kind;
    to.thread = ThreadOf(to.thread);
  }
  calls_.resize(kept);
  assembler_->AddCalls(std::move(calls_));
}

void RocprofProcess::FinishRanges() {
  for (TraceSink::Call range : ranges_) {
    const uint32_t kind = range.name >> 16;
    if (kind >= kinds_.size() ||
        !StartsWith(kinds_[kind].name, "MARKER_CORE")) {
      continue;
    }
    const std::string_view message = MessageOf(range.correlation);
    Operation& operation = OperationOf(range.name);
    if (message.data() == nullptr && !operation.known) continue;
    range.name = message.data() == nullptr ? NameOf(&operation)
                                           : assembler_->Name(message);
    range.thread = ThreadOf(range.thread);
    assembler_->AddRange(range);
  }
}

void RocprofProcess::Finish(std::vector<RocprofAgent>* agents,
                            ImportCounters* counters) {
  std::stable_sort(
      messages_.begin(), messages_.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  thread_of_.assign(threads_.size(), kNone);
  FinishOps();
  FinishCalls(counters);
  FinishRanges();
  for (auto& [handle, agent] : agents_) agents->push_back(std::move(agent));
}

}  // namespace inferdiff
