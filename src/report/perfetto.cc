// SPDX-License-Identifier: Apache-2.0
#include "report/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/text.h"
#include "compare/timeline.h"
#include "report/proto_writer.h"

namespace inferdiff {
namespace {

// Field numbers of Perfetto's messages.
namespace field {
constexpr uint32_t kPacket = 1;  // of Trace
constexpr uint32_t kTimestamp = 8, kSequence = 10, kEvent = 11, kTrack = 60;
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5;
constexpr uint32_t kOrdering = 11, kRank = 12;  // of TrackDescriptor
constexpr uint32_t kPid = 1, kProcessName = 6;
constexpr uint32_t kAnnotation = 4, kType = 9, kTrackUuid = 11;
constexpr uint32_t kCategories = 22, kEventName = 23;
constexpr uint32_t kUint = 3, kString = 6, kAnnotationName = 10;
}  // namespace field

constexpr uint64_t kExplicit = 3;  // ChildTracksOrdering
constexpr uint64_t kBegin = 1, kEnd = 2;

struct Slice {
  int64_t start_ns = 0, end_ns = 0;
  std::string name;
  std::string_view category;
  ProtoMessage event;  // its annotations
};

void Annotate(std::string_view name, std::string_view value,
              ProtoMessage* event) {
  ProtoMessage annotation;
  annotation.Bytes(field::kAnnotationName, name);
  annotation.Bytes(field::kString, value);
  event->Message(field::kAnnotation, annotation);
}

void Annotate(std::string_view name, uint64_t value, ProtoMessage* event) {
  ProtoMessage annotation;
  annotation.Bytes(field::kAnnotationName, name);
  annotation.Varint(field::kUint, value);
  event->Message(field::kAnnotation, annotation);
}

/// The slices of each row of a track, by index: no two of a row overlap.
/// `slices` are in order of start.
std::vector<std::vector<size_t>> RowsOf(const std::vector<Slice>& slices) {
  // When each row is free again, the earliest on top.
  using Row = std::pair<int64_t, size_t>;
  std::priority_queue<Row, std::vector<Row>, std::greater<>> free;
  std::vector<std::vector<size_t>> rows;
  for (size_t i = 0; i < slices.size(); ++i) {
    size_t row = rows.size();
    if (!free.empty() && free.top().first <= slices[i].start_ns) {
      row = free.top().second;
      free.pop();
    } else {
      rows.emplace_back();
    }
    rows[row].push_back(i);
    free.emplace(slices[i].end_ns, row);
  }
  return rows;
}

class TraceWriter {
 public:
  /// `earliest_ns` becomes 0: the format has no time below.
  TraceWriter(const TextSink& sink, int64_t earliest_ns)
      : out_(sink), earliest_ns_(earliest_ns) {}

  uint64_t Process(uint64_t pid, std::string_view name) {
    ProtoMessage process, track;
    process.Varint(field::kPid, pid);
    process.Bytes(field::kProcessName, name);
    track.Message(field::kProcess, process);
    // Right below a process the viewer sorts by name: one track between.
    return Track(Track(std::move(track)), "representative step");
  }

  /// In the order of calls, below the parent.
  uint64_t Track(uint64_t parent, std::string_view name) {
    ProtoMessage track;
    track.Bytes(field::kName, name);
    track.Varint(field::kParent, parent);
    track.Varint(field::kOrdering, kExplicit);
    track.Varint(field::kRank, next_track_);
    return Track(std::move(track));
  }

  /// On as many tracks below the parent as it takes, the first of which is
  /// called `name`.
  void Slices(uint64_t parent, const std::string& name,
              const std::vector<Slice>& slices) {
    size_t number = 0;
    for (const std::vector<size_t>& row : RowsOf(slices)) {
      ++number;
      const uint64_t track = Track(
          parent, number == 1 ? name : fmt::format("{} ({})", name, number));
      for (const size_t i : row) Write(track, slices[i]);
    }
  }

 private:
  uint64_t Track(ProtoMessage track) {
    ProtoMessage packet;
    track.Varint(field::kUuid, next_track_);
    packet.Message(field::kTrack, track);
    packet.Varint(field::kSequence, 1);
    Packet(packet);
    return next_track_++;
  }

  void Write(uint64_t track, const Slice& slice) {
    ProtoMessage begin = slice.event;
    begin.Varint(field::kType, kBegin);
    begin.Varint(field::kTrackUuid, track);
    if (!slice.category.empty())
      begin.Bytes(field::kCategories, slice.category);
    begin.Bytes(field::kEventName, slice.name);
    Event(slice.start_ns, begin);
    ProtoMessage end;
    end.Varint(field::kType, kEnd);
    end.Varint(field::kTrackUuid, track);
    Event(slice.end_ns, end);
  }

  void Event(int64_t time_ns, const ProtoMessage& event) {
    ProtoMessage packet;
    packet.Varint(field::kTimestamp, static_cast<uint64_t>(time_ns) -
                                         static_cast<uint64_t>(earliest_ns_));
    packet.Varint(field::kSequence, 1);
    packet.Message(field::kEvent, event);
    Packet(packet);
  }

  void Packet(const ProtoMessage& packet) {
    ProtoMessage trace;
    trace.Message(field::kPacket, packet);
    out_.Append(trace.bytes());
  }

  TextPieces out_;
  int64_t earliest_ns_;
  uint64_t next_track_ = 1;
};

/// By group of the alignment: "fmha_kernel (ordinal 17), ...".
using Counterparts = std::vector<std::string>;

Counterparts NamesOf(const LedgerResult& ledger, const SideTimeline& side,
                     size_t groups) {
  constexpr size_t kMostBytes = 400;
  Counterparts names(groups);
  for (const TimelineOp& op : side.ops) {
    if (op.group == kNone || names[op.group].size() > kMostBytes) continue;
    std::string& text = names[op.group];
    text += fmt::format("{}{} (ordinal {})", text.empty() ? "" : ", ",
                        Printable(ledger.kernels[op.kernel].name), op.ordinal);
  }
  return names;
}

Slice SliceOf(const LedgerResult& ledger, const TimelineOp& op,
              const Counterparts& others) {
  const KernelRow& kernel = ledger.kernels[op.kernel];
  Slice slice{op.start_ns,
              op.start_ns + op.dur_ns,
              Printable(kernel.name),
              IdOf(kernel.category),
              {}};
  Annotate("role", IdOf(op.role), &slice.event);
  Annotate("category", IdOf(kernel.category), &slice.event);
  Annotate("family", Printable(kernel.family), &slice.event);
  if (op.layer != kNone) Annotate("layer", op.layer, &slice.event);
  if (op.replay != kNone) Annotate("replay", op.replay, &slice.event);
  Annotate("lane", op.lane, &slice.event);
  Annotate("ordinal", op.ordinal, &slice.event);
  if (op.wait_ns > 0)
    Annotate("rank_wait_ns", static_cast<uint64_t>(op.wait_ns), &slice.event);
  if (op.group != kNone && op.group < others.size()) {
    const std::string& other = others[op.group];
    Annotate("counterpart", other.empty() ? "none" : other, &slice.event);
  }
  return slice;
}

std::vector<Slice> SpansOf(const std::vector<TimelineSpan>& spans,
                           std::string_view word) {
  std::vector<Slice> slices;
  for (size_t i = 0; i < spans.size(); ++i) {
    const TimelineSpan& span = spans[i];
    if (span.ops == 0) continue;
    slices.push_back(
        {span.begin_ns, span.end_ns, fmt::format("{} {}", word, i), {}, {}});
    Annotate("operations", span.ops, &slices.back().event);
  }
  std::stable_sort(
      slices.begin(), slices.end(),
      [](const Slice& x, const Slice& y) { return x.start_ns < y.start_ns; });
  return slices;
}

/// The categories with most time first, as tables have them.
std::vector<Category> CategoriesOf(const LedgerResult& ledger,
                                   const SideTimeline& side) {
  std::array<int64_t, kCategoryCount> time{};
  std::array<bool, kCategoryCount> occurs{};
  for (const TimelineOp& op : side.ops) {
    const auto i = static_cast<size_t>(ledger.kernels[op.kernel].category);
    time[i] = CheckedAdd(time[i], op.dur_ns);
    occurs[i] = true;
  }
  std::vector<Category> categories;
  for (size_t i = 0; i < kCategoryCount; ++i)
    if (occurs[i]) categories.push_back(static_cast<Category>(i));
  std::stable_sort(
      categories.begin(), categories.end(), [&](Category x, Category y) {
        return time[static_cast<size_t>(x)] > time[static_cast<size_t>(y)];
      });
  return categories;
}

void WriteSide(const LedgerResult& ledger, const SideTimeline& side,
               const Counterparts& others, uint64_t process, TraceWriter* out) {
  if (side.wall_ns) {
    std::string name = fmt::format("step {}", side.step);
    if (!side.rank.empty()) name += " of " + Printable(side.rank);
    out->Slices(process, "step", {{0, *side.wall_ns, name, {}, {}}});
  }
  out->Slices(process, "graph replays", SpansOf(side.replays, "replay"));
  out->Slices(process, "layers", SpansOf(side.layers, "layer"));
  std::map<std::pair<Category, uint32_t>, std::vector<Slice>> tracks;
  for (const TimelineOp& op : side.ops) {  // by lane, then start
    tracks[{ledger.kernels[op.kernel].category, op.lane}].push_back(
        SliceOf(ledger, op, others));
  }
  for (const Category category : CategoriesOf(ledger, side)) {
    const uint64_t parent = out->Track(process, TitleOf(category));
    for (auto at = tracks.lower_bound({category, 0});
         at != tracks.end() && at->first.first == category; ++at) {
      out->Slices(parent, fmt::format("lane {}", at->first.second), at->second);
    }
  }
}

int64_t EarliestOf(const SideTimeline& side) {
  int64_t earliest = 0;
  for (const TimelineOp& op : side.ops)
    earliest = std::min(earliest, op.start_ns);
  return earliest;
}

std::string ProcessName(std::string_view side, const LedgerResult& ledger,
                        const SideTimeline& timeline) {
  std::string name = std::string(side) + Printable(ledger.source.label);
  if (!timeline.absent.empty()) name += ": " + timeline.absent;
  return name;
}

}  // namespace

void WritePerfetto(const LedgerResult& ledger, const TextSink& sink) {
  const SideTimeline side = TimelineOf(ledger);
  TraceWriter out(sink, EarliestOf(side));
  WriteSide(ledger, side, {}, out.Process(1, ProcessName("", ledger, side)),
            &out);
}

void WritePerfetto(const CompareResult& result, const TextSink& sink) {
  const Timeline timeline = TimelineOf(result);
  const size_t groups = result.alignment.groups.size();
  TraceWriter out(sink,
                  std::min(EarliestOf(timeline.a), EarliestOf(timeline.b)));
  const Counterparts names_a = NamesOf(result.a, timeline.a, groups);
  const Counterparts names_b = NamesOf(result.b, timeline.b, groups);
  WriteSide(result.a, timeline.a, names_b,
            out.Process(1, ProcessName("A ", result.a, timeline.a)), &out);
  WriteSide(result.b, timeline.b, names_a,
            out.Process(2, ProcessName("B ", result.b, timeline.b)), &out);
}

}  // namespace inferdiff
