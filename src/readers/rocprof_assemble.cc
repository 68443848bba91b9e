// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_assemble.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
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

/// "GPU 1" counts the GPUs alone, "Agent 1" all processors.
const RocprofAgent* AgentOf(std::string_view text,
                            const std::vector<RocprofAgent>& agents) {
  const int64_t number = NumberIn(text);
  const bool among_gpus = text.substr(0, 3) == "GPU";
  const RocprofAgent* found = nullptr;
  const RocprofAgent* any = nullptr;
  bool alike = true;
  int64_t gpus = 0;
  for (const RocprofAgent& agent : agents) {
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

uint32_t& EntryOf(uint32_t number, std::vector<uint32_t>* table) {
  if (table->size() <= number) table->resize(number + size_t{64}, kNone);
  return (*table)[number];
}

}  // namespace

NameId RocprofAssembler::Name(std::string_view raw) {
  if (raw.find('"') != raw.npos && text_ == RocprofText::kCsv) {
    return sink_.Name(UnquoteCsv(raw));
  }
  if (text_ == RocprofText::kJson && !IsPlainText(raw)) {
    const DecodedText decoded = DecodeJsonText(raw);
    if (decoded.replaced) file_->counters.Add(Counter::kInvalidUtf8);
    return sink_.Name(decoded.text);
  }
  return sink_.Name(raw);
}

uint32_t RocprofAssembler::Lane(std::string_view key, bool is_copy) {
  const auto [at, added] =
      lane_index_.emplace(std::pair(std::string(key), is_copy),
                          static_cast<uint32_t>(lanes_.size()));
  if (added) {
    const RocprofLane lane = SplitLane(key);
    const auto [device, fresh] = device_index_.emplace(
        std::pair(std::string(lane.process), NumberIn(lane.agent)),
        static_cast<uint32_t>(devices_.size()));
    if (fresh) {
      CheckDeviceCount(devices_.size() + 1);
      devices_.emplace_back();
    }
    lanes_.push_back({std::string(key), is_copy, device->second});
  }
  return at->second;
}

uint32_t RocprofAssembler::Thread(std::string_view key) {
  return threads_.Intern(key);
}

void RocprofAssembler::AddOps(GpuOps ops) {
  if (ops.size() == 0) return;
  op_count_ += ops.size();
  const uint32_t first = lanes_[ops.lane[0]].device;
  const bool alike =
      std::all_of(ops.lane.begin(), ops.lane.end(),
                  [&](uint32_t lane) { return lanes_[lane].device == first; });
  OpColumns added(std::move(ops));
  if (alike && devices_[first].ops.size() == 0) {
    devices_[first].ops = std::move(added);
    return;
  }
  for (size_t i = 0; i < added.size(); ++i) {
    const OpRow row = added.At(i);
    devices_[lanes_[row.lane].device].ops.Add(row);
  }
}

void RocprofAssembler::AddCalls(std::vector<TraceSink::Call> calls) {
  if (calls_.empty()) {
    calls_ = std::move(calls);
  } else {
    calls_.insert(calls_.end(), calls.begin(), calls.end());
  }
}

void RocprofAssembler::TakeOps(const RocprofBatch& batch,
                               uint64_t first_ordinal, Numbers* numbers) {
  for (const TraceSink::Op& op : batch.ops) {
    int64_t end_ns = op.end_ns;
    if (!AcceptTimes(op.start_ns, &end_ns, &file_->counters)) continue;
    const bool is_copy = op.kind == OpKind::kMemcpy;
    const uint32_t lane =
        (is_copy ? numbers->copy_lanes : numbers->lanes)[op.lane];
    devices_[lanes_[lane].device].ops.Add(
        {op.start_ns, end_ns - op.start_ns, op.correlation,
         op.ordinal + first_ordinal, numbers->names[op.name], lane, op.kind});
    ++op_count_;
  }
}

void RocprofAssembler::Take(const RocprofBatch& batch, uint64_t first_ordinal,
                            double share) {
  Numbers& numbers = numbers_[batch.lexicon];
  for (const auto& [number, text] : batch.names) {
    uint32_t& name = EntryOf(number, &numbers.names);
    if (name == kNone) name = Name(text);
  }
  // The ops of a table are all copies, or none is.
  const bool copies =
      !batch.ops.empty() && batch.ops.front().kind == OpKind::kMemcpy;
  for (const auto& [number, key] : batch.lanes) {
    uint32_t& lane =
        EntryOf(number, copies ? &numbers.copy_lanes : &numbers.lanes);
    if (lane == kNone) lane = Lane(key, copies);
    DeviceRow& device = devices_[lanes_[lane].device];
    device.ops.Expect(device.forecast.Of(device.ops.size(), share));
  }
  for (const auto& [number, key] : batch.threads) {
    uint32_t& thread = EntryOf(number, &numbers.threads);
    if (thread == kNone) thread = Thread(key);
  }
  TakeOps(batch, first_ordinal, &numbers);
  for (TraceSink::Call call : batch.calls) {
    if (!AcceptTimes(call.start_ns, &call.end_ns, &file_->counters)) continue;
    call.name = numbers.names[call.name];
    call.thread = numbers.threads[call.thread];
    call.ordinal += first_ordinal;
    calls_.push_back(call);
  }
  for (TraceSink::Call range : batch.ranges) {
    range.name = numbers.names[range.name];
    range.thread = numbers.threads[range.thread];
    range.ordinal += first_ordinal;
    AddRange(range);
  }
}

/// Whether any op is on a stream other than 0.
bool RocprofAssembler::StreamsTell() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const LaneRow& row) {
    return NumberIn(SplitLane(row.key).stream) != 0;
  });
}

uint32_t RocprofAssembler::ProcessOf(std::string_view process,
                                     const RocprofFacts& facts) {
  const std::string label(process.empty() ? facts.process : process);
  return sink_.Process(NumberIn(label), label);
}

uint32_t RocprofAssembler::DeviceOf(const RocprofLane& lane,
                                    const RocprofFacts& facts) {
  const uint32_t device =
      sink_.Device(ProcessOf(lane.process, facts), NumberIn(lane.agent));
  TraceInfo& info = sink_.info(device);
  info.vendor = Vendor::kAmd;
  info.truncated = facts.truncated;
  if (const auto* const agent = AgentOf(lane.agent, facts.agents)) {
    info.gpu_name = agent->product.empty() ? agent->name : agent->product;
    if (agent->cu_count > 0) info.sm_count = agent->cu_count;
  }
  return device;
}

/// The sink's lane.
uint32_t RocprofAssembler::LaneOf(const LaneRow& row, bool by_stream,
                                  uint32_t device) {
  const RocprofLane lane = SplitLane(row.key);
  // Copies of no stream are the copy engines', whatever their queue.
  constexpr int64_t kCopies = -1;
  if (by_stream && !lane.stream.empty()) {
    const int64_t id = NumberIn(lane.stream);
    return sink_.Lane(device, id, fmt::format("stream {}", id));
  }
  if (row.is_copy) return sink_.Lane(device, kCopies, "copies");
  const int64_t id = NumberIn(lane.queue);
  return sink_.Lane(device, id, fmt::format("queue {}", id));
}

void RocprofAssembler::FinishOps(const RocprofFacts& facts) {
  const bool by_stream = StreamsTell();
  std::vector<uint32_t> device_of(devices_.size(), kNone);
  std::vector<uint32_t> lane_of;
  for (const LaneRow& row : lanes_) {
    device_of[row.device] = DeviceOf(SplitLane(row.key), facts);
    lane_of.push_back(LaneOf(row, by_stream, device_of[row.device]));
  }
  for (size_t i = 0; i < devices_.size(); ++i) {
    GpuOps ops = devices_[i].ops.Take();
    for (uint32_t& lane : ops.lane) lane = lane_of[lane];
    sink_.AddOps(device_of[i], std::move(ops));
  }
}

void RocprofAssembler::FinishCalls(const RocprofFacts& facts) {
  std::vector<uint32_t> process_of, thread_of;
  for (NameId i = 0; i < threads_.size(); ++i) {
    const std::string_view key = threads_[i];
    const size_t split = key.find('\x1f');
    const std::string_view label = key.substr(split + 1);
    process_of.push_back(ProcessOf(key.substr(0, split), facts));
    thread_of.push_back(
        sink_.Thread(process_of.back(), NumberIn(label), label));
  }
  for (const TraceSink::Call& range : ranges_) {
    sink_.AddRange(thread_of[range.thread], range.start_ns, range.end_ns,
                   range.name, range.ordinal);
  }
  if (calls_.empty()) return;
  const uint32_t first = process_of[calls_[0].thread];
  bool alike = true;
  for (TraceSink::Call& call : calls_) {
    alike &= process_of[call.thread] == first;
    call.thread = thread_of[call.thread];
  }
  if (alike) {
    sink_.AddCalls(first, std::move(calls_));
  } else {
    for (const TraceSink::Call& call : calls_) sink_.AddCall(call);
  }
}

void RocprofAssembler::Finish(const RocprofFacts& facts) {
  FinishOps(facts);
  FinishCalls(facts);
  sink_.Finish(file_);
}

}  // namespace inferdiff
