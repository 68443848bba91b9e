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

}  // namespace

void RocprofProcess::Add(RocprofPart part, const RocprofOrdinals& first,
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
    symbols_[kernel] = {part.numbers->texts[text], true, kNone};
  }
  for (const auto& [correlation, text] : part.messages) {
    messages_.emplace_back(correlation, part.numbers->texts[text]);
  }
  part.others.clear();
  part.symbols = {};
  part.messages = {};
  parts_.push_back({std::move(part), first});
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
  StringPool& names = lexicon_->names;
  Kind kind;
  kind.name = names[names.Intern(parsed.name)];
  for (const std::string_view operation : parsed.operations) {
    kind.operations.push_back(names.Intern(operation));
  }
  kinds_.push_back(std::move(kind));  // its number counts, good or bad
  return good;
}

std::string_view RocprofProcess::KindName(uint32_t code) const {
  return code >> 16 < kinds_.size() ? kinds_[code >> 16].name
                                    : std::string_view();
}

NameId RocprofProcess::OperationName(uint32_t code) const {
  if (code >> 16 >= kinds_.size()) return kNone;
  const Kind& kind = kinds_[code >> 16];
  const uint32_t operation = code & 0xffffU;
  return operation < kind.operations.size() ? kind.operations[operation]
                                            : kNone;
}

NameId RocprofProcess::SymbolName(uint32_t kernel) {
  if (kernel >= symbols_.size() || !symbols_[kernel].known) {
    return lexicon_->names.Intern(fmt::format("kernel {}", kernel));
  }
  Symbol& symbol = symbols_[kernel];
  if (symbol.name == kNone) symbol.name = lexicon_->names.Intern(symbol.text);
  return symbol.name;
}

NameId RocprofProcess::MessageOf(int64_t correlation) {
  const auto at =
      std::lower_bound(messages_.begin(), messages_.end(), correlation,
                       [](const auto& message, int64_t wanted) {
                         return message.first < wanted;
                       });
  if (at == messages_.end() || at->first != correlation) return kNone;
  return lexicon_->names.Intern(at->second);
}

/// An agent is known by its logical number, as in CSV files; a copy is its
/// source's, or the destination's where the source is no GPU.
uint32_t RocprofProcess::LaneOf(const RocprofNumbers& numbers,
                                uint32_t number) {
  auto& lanes = numbers_[&numbers].lanes;
  if (lanes.size() <= number) lanes.resize(numbers.places.size(), kNone);
  if (lanes[number] != kNone) return lanes[number];
  const auto find = [&](uint64_t handle) -> const RocprofAgent* {
    for (const auto& [known, agent] : agents_)
      if (known == handle) return &agent;
    return nullptr;
  };
  const RocprofPlace& place = numbers.places[number];
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
  return lanes[number] = lexicon_->lanes.Intern(key);
}

uint32_t RocprofProcess::ThreadOf(const RocprofNumbers& numbers,
                                  uint32_t number) {
  auto& threads = numbers_[&numbers].threads;
  if (threads.size() <= number) threads.resize(numbers.threads.size(), kNone);
  if (threads[number] == kNone) {
    threads[number] = lexicon_->threads.Intern(
        fmt::format("{}\x1f{}", pid_, numbers.threads[number]));
  }
  return threads[number];
}

RocprofBatch RocprofProcess::BatchOfOps(const Part& part, bool copies) {
  RocprofBatch batch;
  batch.lexicon = lexicon_;
  batch.ops = copies ? part.rows.copies : part.rows.ops;
  for (TraceSink::Op& op : batch.ops) {
    op.ordinal += copies ? part.first.copies : part.first.kernels;
    op.lane = LaneOf(*part.rows.numbers, op.lane);
    op.name = copies ? OperationName(op.name) : SymbolName(op.name);
    if (op.name == kNone) op.name = lexicon_->names.Intern("MEMORY_COPY");
  }
  return batch;
}

RocprofBatch RocprofProcess::BatchOfCalls(Part* part) {
  RocprofBatch batch;
  batch.lexicon = lexicon_;
  size_t kept = 0;
  for (TraceSink::Call call : part->rows.calls) {
    const NameId name = OperationName(call.name);
    const bool is_hip = StartsWith(KindName(call.name), "HIP");
    const NameUse use =
        name == kNone || !is_hip ? NameUse{} : lexicon_->UseOf(name);
    if (use.begins_capture) batch.counters.Add(Counter::kGraphCapture);
    if (!use.kept) continue;
    call.name = name;
    call.kind = use.kind;
    call.ordinal += part->first.calls;
    call.thread = ThreadOf(*part->rows.numbers, call.thread);
    part->rows.calls[kept++] = call;
  }
  batch.calls = part->rows.calls.first(kept);
  return batch;
}

RocprofBatch RocprofProcess::BatchOfRanges(Part* part) {
  RocprofBatch batch;
  batch.lexicon = lexicon_;
  size_t kept = 0;
  for (TraceSink::Call range : part->rows.ranges) {
    if (!StartsWith(KindName(range.name), "MARKER_CORE")) continue;
    NameId name = MessageOf(range.correlation);
    if (name == kNone) name = OperationName(range.name);
    if (name == kNone) continue;
    range.name = name;
    range.ordinal += part->first.ranges;
    range.thread = ThreadOf(*part->rows.numbers, range.thread);
    part->rows.ranges[kept++] = range;
  }
  batch.ranges = part->rows.ranges.first(kept);
  return batch;
}

void RocprofProcess::Finish(std::vector<RocprofBatch>* batches,
                            std::vector<RocprofAgent>* agents) {
  std::stable_sort(
      messages_.begin(), messages_.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  // By kind, so that nothing depends on where the parts begin.
  for (const bool copies : {false, true}) {
    for (const Part& part : parts_) {
      batches->push_back(BatchOfOps(part, copies));
    }
  }
  for (Part& part : parts_) batches->push_back(BatchOfCalls(&part));
  for (Part& part : parts_) batches->push_back(BatchOfRanges(&part));
  for (auto& [handle, agent] : agents_) agents->push_back(std::move(agent));
}

}  // namespace inferdiff
