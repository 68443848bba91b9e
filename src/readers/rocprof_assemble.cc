// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_assemble.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "readers/csv_walker.h"
#include "readers/json_text.h"
#include "readers/kineto_event.h"

namespace inferdiff {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

/// The parts of a key, which end with '\x1f' each.
RocprofLane SplitLane(std::string_view key) {
  std::array<std::string_view, 4> parts;
  for (std::string_view& part : parts) {
    const size_t end = key.find('\x1f');
    part = key.substr(0, end);
    key.remove_prefix(end + 1);
  }
  return {parts[0], parts[1], parts[2], parts[3]};
}

/// The first number in "Agent 4", "GPU 0", "4", "0x1f": 4, 0, 4, 0.
int64_t NumberIn(std::string_view text) {
  const size_t first = text.find_first_of("0123456789");
  if (first == kNowhere) return 0;
  size_t end = first;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return ParseInteger(text.substr(first, end - first)).value_or(0);
}

class RocprofAssembler {
 public:
  RocprofAssembler(RocprofInput input, SourceFile* file)
      : input_(std::move(input)), file_(file), sink_(&file->counters) {}

  void Run();

 private:
  /// Numbers of a lexicon -> numbers of the sink; kNone: not met yet.
  struct Numbers {
    std::vector<uint32_t> names, lanes, copy_lanes, threads;
  };

  bool StreamsTell() const;
  void Take(const RocprofBatch& batch, uint64_t first_ordinal);
  NameId NameOf(const RocprofBatch& batch, uint32_t name, Numbers* numbers);
  uint32_t LaneOf(const RocprofBatch& batch, const TraceSink::Op& op,
                  Numbers* numbers);
  uint32_t ThreadOf(const RocprofBatch& batch, uint32_t thread,
                    Numbers* numbers);
  uint32_t ProcessOf(std::string_view process);
  const RocprofAgent* AgentOf(std::string_view text) const;
  uint32_t DeviceOf(const RocprofLane& lane);

  RocprofInput input_;
  SourceFile* file_;
  TraceSink sink_;
  std::map<const RocprofLexicon*, Numbers> numbers_;
  bool by_stream_ = false;
};

/// Whether any op is on a stream other than 0. A lexicon may hold lanes of a
/// wrong guess, so only those of ops count.
bool RocprofAssembler::StreamsTell() const {
  std::map<const RocprofLexicon*, std::vector<uint8_t>> seen;
  for (const auto& batches : input_.files) {
    for (const RocprofBatch& batch : batches) {
      if (batch.ops.empty()) continue;
      std::vector<uint8_t>& lanes = seen[batch.lexicon];
      lanes.resize(batch.lexicon->lanes.size(), 0);
      for (const TraceSink::Op& op : batch.ops) {
        if (std::exchange(lanes[op.lane], uint8_t{1}) != 0) continue;
        const RocprofLane lane = SplitLane(batch.lexicon->lanes[op.lane]);
        if (NumberIn(lane.stream) != 0) return true;
      }
    }
  }
  return false;
}

uint32_t RocprofAssembler::ProcessOf(std::string_view process) {
  const std::string label(process.empty() ? input_.process : process);
  return sink_.Process(NumberIn(label), label);
}

/// "GPU 1" counts the GPUs alone, "Agent 1" all processors.
const RocprofAgent* RocprofAssembler::AgentOf(std::string_view text) const {
  const int64_t number = NumberIn(text);
  const bool among_gpus = text.substr(0, 3) == "GPU";
  const RocprofAgent* found = nullptr;
  const RocprofAgent* any = nullptr;
  bool alike = true;
  int64_t gpus = 0;
  for (const RocprofAgent& agent : input_.agents) {
    if (!agent.is_gpu) continue;
    const bool hit = among_gpus ? gpus == number : agent.logical == number;
    const bool by_node = !among_gpus && agent.node == number;
    if (hit || (by_node && found == nullptr)) found = &agent;
    if (any != nullptr && any->product != agent.product) alike = false;
    any = &agent;
    ++gpus;
  }
  if (found != nullptr) return found;
  return alike ? any : nullptr;
}

uint32_t RocprofAssembler::DeviceOf(const RocprofLane& lane) {
  const uint32_t device =
      sink_.Device(ProcessOf(lane.process), NumberIn(lane.agent));
  TraceInfo& info = sink_.info(device);
  info.vendor = Vendor::kAmd;
  info.truncated = input_.truncated;
  if (const RocprofAgent* const agent = AgentOf(lane.agent)) {
    info.gpu_name = agent->product.empty() ? agent->name : agent->product;
    if (agent->cu_count > 0) info.sm_count = agent->cu_count;
  }
  return device;
}

uint32_t RocprofAssembler::LaneOf(const RocprofBatch& batch,
                                  const TraceSink::Op& op, Numbers* numbers) {
  const bool is_copy = op.kind == OpKind::kMemcpy;
  auto& table = is_copy ? numbers->copy_lanes : numbers->lanes;
  if (table.size() <= op.lane) table.resize(batch.lexicon->lanes.size(), kNone);
  uint32_t& number = table[op.lane];
  if (number != kNone) return number;
  const RocprofLane lane = SplitLane(batch.lexicon->lanes[op.lane]);
  const uint32_t device = DeviceOf(lane);
  // Copies of no stream are the copy engines', whatever their queue.
  constexpr int64_t kCopies = -1;
  if (by_stream_ && !lane.stream.empty()) {
    const int64_t id = NumberIn(lane.stream);
    number = sink_.Lane(device, id, fmt::format("stream {}", id));
  } else if (is_copy) {
    number = sink_.Lane(device, kCopies, "copies");
  } else {
    const int64_t id = NumberIn(lane.queue);
    number = sink_.Lane(device, id, fmt::format("queue {}", id));
  }
  return number;
}

uint32_t RocprofAssembler::ThreadOf(const RocprofBatch& batch, uint32_t thread,
                                    Numbers* numbers) {
  auto& table = numbers->threads;
  if (table.size() <= thread) {
    table.resize(batch.lexicon->threads.size(), kNone);
  }
  uint32_t& number = table[thread];
  if (number != kNone) return number;
  const std::string_view key = batch.lexicon->threads[thread];
  const size_t split = key.find('\x1f');
  const std::string_view label = key.substr(split + 1);
  number =
      sink_.Thread(ProcessOf(key.substr(0, split)), NumberIn(label), label);
  return number;
}

NameId RocprofAssembler::NameOf(const RocprofBatch& batch, uint32_t name,
                                Numbers* numbers) {
  auto& table = numbers->names;
  if (table.size() <= name) table.resize(batch.lexicon->names.size(), kNone);
  NameId& number = table[name];
  if (number != kNone) return number;
  const std::string_view raw = batch.lexicon->names[name];
  if (raw.find('"') != raw.npos && input_.text == RocprofText::kCsv) {
    number = sink_.Name(UnquoteCsv(raw));
  } else if (input_.text == RocprofText::kJson && !IsPlainText(raw)) {
    const DecodedText decoded = DecodeJsonText(raw);
    number = sink_.Name(decoded.text);
    if (decoded.replaced) file_->counters.Add(Counter::kInvalidUtf8);
  } else {
    number = sink_.Name(raw);
  }
  return number;
}

void RocprofAssembler::Take(const RocprofBatch& batch, uint64_t first_ordinal) {
  Numbers& numbers = numbers_[batch.lexicon];
  for (TraceSink::Op op : batch.ops) {
    op.name = NameOf(batch, op.name, &numbers);
    op.lane = LaneOf(batch, op, &numbers);
    op.ordinal += first_ordinal;
    sink_.AddOp(op);
  }
  for (TraceSink::Call call : batch.calls) {
    call.name = NameOf(batch, call.name, &numbers);
    call.thread = ThreadOf(batch, call.thread, &numbers);
    call.ordinal += first_ordinal;
    sink_.AddCall(call);
  }
  for (const TraceSink::Call& range : batch.ranges) {
    sink_.AddRange(ThreadOf(batch, range.thread, &numbers), range.start_ns,
                   range.end_ns, NameOf(batch, range.name, &numbers),
                   range.ordinal + first_ordinal);
  }
}

void RocprofAssembler::Run() {
  by_stream_ = StreamsTell();
  size_t ops = 0;
  for (const auto& batches : input_.files) {
    for (const RocprofBatch& batch : batches) ops += batch.ops.size();
  }
  sink_.ExpectOps(ops);
  for (auto& batches : input_.files) {
    uint64_t ordinal = 0;
    for (RocprofBatch& batch : batches) {
      if (batch.lexicon != nullptr) Take(batch, ordinal);
      ordinal += batch.ordinals;
      batch = {};
    }
  }
  sink_.Finish(file_);
}

}  // namespace

void AssembleRocprof(RocprofInput input, SourceFile* file) {
  RocprofAssembler(std::move(input), file).Run();
}

}  // namespace inferdiff
