// SPDX-License-Identifier: Apache-2.0
#include "readers/chrome_json.h"

#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "readers/host_calls.h"
#include "readers/json_fields.h"
#include "readers/json_objects.h"
#include "readers/json_text.h"
#include "readers/kineto_boundary.h"
#include "readers/kineto_event.h"
#include "readers/trace_sink.h"

namespace inferdiff {
namespace {

/// Who wrote the trace.
enum class ChromeWriter : uint8_t { kOther, kRocprof, kXla, kProton };

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// `head` without its spaces.
std::string Squeezed(std::string_view head) {
  std::string text;
  for (const char c : head) {
    if (!IsJsonSpace(c)) text.push_back(c);
  }
  return text;
}

ChromeWriter WriterOf(std::string_view head) {
  for (const std::string_view key :
       {"\"schemaVersion\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\"",
        "\"distributedInfo\""}) {
    if (Contains(head, key)) return ChromeWriter::kOther;
  }
  const std::string text = Squeezed(head);
  if (!StartsWith(text, "{") && !StartsWith(text, "[")) {
    return ChromeWriter::kOther;
  }
  if (Contains(text, "\"highres-ticks\"") || Contains(text, "\"/device:GPU:") ||
      Contains(text, "\"/host:CPU\"")) {
    return ChromeWriter::kXla;
  }
  if (StartsWith(text, "{\"displayTimeUnit\":\"us\"")) {
    return ChromeWriter::kProton;
  }
  const bool empty_first =
      StartsWith(text, "[{}") || Contains(text, "\"traceEvents\":[{}");
  const bool quoted = Contains(text, "\"ts\":\"");
  return empty_first && quoted ? ChromeWriter::kRocprof : ChromeWriter::kOther;
}

/// The number behind `mark` in "/device:GPU:1 (H100)"; 0 where there is none.
int64_t NumberBehind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == text.npos) return 0;
  text.remove_prefix(at + mark.size());
  const size_t first = text.find_first_of("0123456789");
  if (first == text.npos) return 0;
  size_t end = first;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return ParseInteger(text.substr(first, end - first)).value_or(0);
}

/// What the rows of one track are.
struct TrackUse {
  enum class Kind : uint8_t { kNone, kGpu, kHost } kind = Kind::kNone;
  int64_t device = 0;
  int64_t lane = 0;
  std::string label;
};

/// Nanoseconds, half a one rounded up: of ends, so that what followed without
/// a gap still does.
__extension__ using Wide = __int128;
int64_t ToNs(Wide picoseconds) {
  const Wide shifted = picoseconds + 500;
  return static_cast<int64_t>(shifted / 1000 - (shifted % 1000 < 0 ? 1 : 0));
}

class ChromeEvents : public JsonObjectSink {
 public:
  ChromeEvents(ChromeWriter writer, SourceFile* file)
      : writer_(writer), file_(file), sink_(&file->counters) {}

  bool Enter(std::string_view text, size_t brace) override;
  void Leave() override { in_events_ = false; }
  void Take(std::string_view object) override;
  size_t FindStart(std::string_view text, size_t at) const override;
  void Finish(bool truncated);

 private:
  struct Fields {
    std::string_view ph, name, pid, tid, ts, dur, cat;
    std::string_view args_name, desc, begin_ns, end_ns, correlation;
  };
  struct Event {
    int64_t start_ns, end_ns, correlation;
    uint64_t ordinal;
    NameId name;
    uint32_t track;
    /// Its writer says what it is, whatever its track.
    bool is_op, is_copy;
  };

  bool ReadTimes(const Fields& fields, Event* event);
  TrackUse UseOf(std::string_view key) const;
  std::string_view NameOf(std::string_view key) const;

  ChromeWriter writer_;
  SourceFile* file_;
  TraceSink sink_;
  bool in_events_ = false;
  uint64_t elements_ = 0;
  StringPool names_;                                        // as written
  StringPool tracks_;                                       // pid '\x1f' tid
  std::map<std::string, std::string, std::less<>> titles_;  // of pids, tracks
  std::vector<Event> events_;
};

bool ChromeEvents::Enter(std::string_view text, size_t brace) {
  const size_t before = LastJsonBefore(text, brace);
  const char mark = before == text.npos ? '\0' : text[before];
  if (mark == '[') {
    const size_t colon = LastJsonBefore(text, before);
    in_events_ = colon == text.npos || text[colon] != ':' ||
                 JsonKeyBefore(text, colon) == "traceEvents";
  } else if (mark != ',') {
    in_events_ = false;
  } else if (!in_events_) {
    // Damage in front may have closed what is still open.
    in_events_ = FindEventStart(text.substr(0, brace + 64), brace) == brace;
  }
  return !in_events_;
}

size_t ChromeEvents::FindStart(std::string_view text, size_t at) const {
  for (size_t brace = FindEventStart(text, at); brace != text.npos;
       brace = FindEventStart(text, brace + 1)) {
    const size_t before = LastJsonBefore(text, brace);
    if (before != text.npos && before >= at && IsNearJson(text, brace)) {
      return brace;
    }
  }
  return text.npos;
}

/// False, and counted: the event has no usable times.
bool ChromeEvents::ReadTimes(const Fields& fields, Event* event) {
  const auto begin_ns = ParseInteger(fields.begin_ns);
  const auto end_ns = ParseInteger(fields.end_ns);
  if (begin_ns && end_ns) {
    event->start_ns = *begin_ns;
    event->end_ns = *end_ns;
    return true;
  }
  const auto start = ParsePicoseconds(fields.ts);
  const auto dur = ParsePicoseconds(fields.dur);
  if (!start || !dur) {
    const bool number = !fields.ts.empty() && !fields.dur.empty() &&
                        ParseInteger(fields.ts.substr(0, 1)).has_value();
    file_->counters.Add(number ? Counter::kTimeOutOfRange
                               : Counter::kMissingField);
    return false;
  }
  event->start_ns = ToNs(*start);
  event->end_ns = ToNs(Wide{*start} + *dur);
  return true;
}

void ChromeEvents::Take(std::string_view object) {
  const uint64_t ordinal = elements_++;
  Fields f;
  const bool good =
      ForEachField(object, [&](std::string_view parent, std::string_view key,
                               std::string_view value, bool) {
        const std::pair<std::string_view, std::string_view*> top[] = {
            {"ph", &f.ph}, {"name", &f.name}, {"pid", &f.pid}, {"tid", &f.tid},
            {"ts", &f.ts}, {"dur", &f.dur},   {"cat", &f.cat}};
        const std::pair<std::string_view, std::string_view*> args[] = {
            {"name", &f.args_name},
            {"desc", &f.desc},
            {"BeginNs", &f.begin_ns},
            {"EndNs", &f.end_ns},
            {"correlation_id", &f.correlation}};
        if (parent.empty()) {
          for (const auto& [name, field] : top)
            if (key == name) *field = value;
        } else if (parent == "args") {
          for (const auto& [name, field] : args)
            if (key == name) *field = value;
        }
      });
  if (!good) {
    file_->counters.Add(Counter::kMalformedRecord);
    return;
  }
  const std::string track = std::string(f.pid) + '\x1f' + std::string(f.tid);
  if (f.ph == "M") {
    const std::string title = DecodeJsonText(f.args_name).text;
    if (f.name == "process_name") titles_[std::string(f.pid)] = title;
    if (f.name == "thread_name") titles_[track] = title;
    return;
  }
  if (f.ph != "X") return;
  if (writer_ == ChromeWriter::kProton && f.cat != "kernel") return;
  Event event{};
  if (!ReadTimes(f, &event)) return;
  event.correlation = ParseInteger(f.correlation).value_or(0);
  event.ordinal = ordinal;
  event.name = names_.Intern(f.name);
  event.track = tracks_.Intern(track);
  event.is_copy = StartsWith(f.desc, "Copy");
  event.is_op = event.is_copy || StartsWith(f.desc, "Kernel") ||
                StartsWith(f.desc, "Fill") || StartsWith(f.desc, "Barrier");
  events_.push_back(event);
}

std::string_view ChromeEvents::NameOf(std::string_view key) const {
  const auto at = titles_.find(key);
  return at == titles_.end() ? std::string_view() : at->second;
}

TrackUse ChromeEvents::UseOf(std::string_view key) const {
  const std::string_view pid = key.substr(0, key.find('\x1f'));
  const std::string_view tid = key.substr(pid.size() + 1);
  const std::string_view process = NameOf(pid);
  const std::string_view thread = NameOf(key);
  using Kind = TrackUse::Kind;
  switch (writer_) {
    case ChromeWriter::kProton:
      return {Kind::kGpu, 0, NumberBehind(tid, ""), std::string(tid)};
    case ChromeWriter::kXla:
      // Other lines of a device repeat its streams' work, by module and step.
      if (Contains(process, "/device:GPU:")) {
        if (!StartsWith(thread, "Stream")) return {};
        return {Kind::kGpu, NumberBehind(process, "/device:GPU:"),
                NumberBehind(thread, "Stream"), std::string(thread)};
      }
      return {Kind::kHost, 0, 0, std::string(tid)};
    default:
      if (Contains(process, "GPU")) {
        return {Kind::kGpu, NumberBehind(process, "GPU"), NumberBehind(tid, ""),
                std::string(tid)};
      }
      return {Kind::kHost, 0, NumberBehind(tid, ""), std::string(tid)};
  }
}

void ChromeEvents::Finish(bool truncated) {
  const bool rocprof = writer_ == ChromeWriter::kRocprof;
  const uint32_t process = sink_.Process(0, "");
  std::vector<TrackUse> uses;
  for (NameId id = 0; id < tracks_.size(); ++id) {
    uses.push_back(UseOf(tracks_[id]));
  }
  std::vector<NameId> numbers(names_.size(), kNone);
  for (const Event& event : events_) {
    const TrackUse& use = uses[event.track];
    const std::string_view raw = names_[event.name];
    const bool is_op = event.is_op || use.kind == TrackUse::Kind::kGpu;
    const NameUse call = is_op ? NameUse{} : UseOfCall(raw);
    if (!is_op && (!call.kept || use.kind == TrackUse::Kind::kNone)) continue;
    NameId& name = numbers[event.name];
    if (name == kNone) name = sink_.Name(DecodeJsonText(raw).text);
    if (!is_op) {
      const uint32_t thread =
          sink_.Thread(process, static_cast<int64_t>(event.track), use.label);
      sink_.AddCall({event.start_ns, event.end_ns, event.correlation,
                     event.ordinal, name, thread, call.kind});
      continue;
    }
    const std::string_view pid =
        tracks_[event.track].substr(0, tracks_[event.track].find('\x1f'));
    const int64_t number =
        use.kind == TrackUse::Kind::kGpu ? use.device : NumberBehind(pid, "");
    const uint32_t device = sink_.Device(process, number);
    sink_.info(device).truncated = truncated;
    if (rocprof) sink_.info(device).vendor = Vendor::kAmd;
    OpKind kind = OpKind::kKernel;
    if (event.is_copy || StartsWith(raw, "Memcpy") || StartsWith(raw, "Copy")) {
      kind = OpKind::kMemcpy;
    } else if (StartsWith(raw, "Memset")) {
      kind = OpKind::kMemset;
    }
    sink_.AddOp({event.start_ns, event.end_ns, event.correlation, event.ordinal,
                 name, sink_.Lane(device, use.lane, use.label), kind});
  }
  sink_.Finish(file_);
}

}  // namespace

std::optional<int64_t> ParsePicoseconds(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  uint64_t digits = 0;
  int exponent = 6;  // of ten: microseconds in picoseconds
  bool any = false;
  bool behind_point = false;
  for (; p != end; ++p) {
    if (*p == '.' && !behind_point) {
      behind_point = true;
      continue;
    }
    if (*p < '0' || *p > '9') break;
    any = true;
    const bool full = digits >= UINT64_MAX / 10 - 1;
    if (full && !behind_point) return std::nullopt;
    if (full) continue;
    digits = digits * 10 + static_cast<uint64_t>(*p - '0');
    if (behind_point) --exponent;
  }
  if (!any) return std::nullopt;
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && *p == '+') ++p;
    int power = 0;
    const auto [stop, error] = std::from_chars(p, end, power);
    if (error != std::errc() || power > 30 || power < -60) return std::nullopt;
    p = stop;
    exponent += power;
  }
  if (p != end) return std::nullopt;
  constexpr uint64_t kMost = INT64_MAX;
  for (; exponent < 0 && digits != 0; ++exponent) digits /= 10;
  for (; exponent > 0 && digits != 0; --exponent) {
    if (digits > kMost / 10) return std::nullopt;
    digits *= 10;
  }
  if (digits > kMost) return std::nullopt;
  const auto value = static_cast<int64_t>(digits);
  return negative ? -value : value;
}

bool SniffChrome(std::string_view head) {
  return WriterOf(head) != ChromeWriter::kOther;
}

SourceFile ReadChrome(const InputFile& file, Compression compression,
                      const ReadOptions& options, size_t block) {
  const auto open = [&] {
    return compression == Compression::kPlain
               ? OpenPlain(file, 0)
               : OpenCompressed(file, compression);
  };
  constexpr size_t kHead = 64 * 1024;
  std::string head(kHead, '\0');
  head.resize(open()->Read(head.data(), head.size()));
  const ChromeWriter writer = WriterOf(head);
  SourceFile result;
  result.format = writer == ChromeWriter::kXla      ? "XLA trace"
                  : writer == ChromeWriter::kProton ? "Proton trace"
                                                    : "rocprof JSON";
  ChromeEvents events(writer, &result);
  JsonObjects objects(&events);
  JsonNesting nesting;
  const auto source = open();
  result.crc32 = WalkJsonObjects(source.get(), compression, options, block,
                                 &objects, &nesting, &result.counters);
  const bool truncated = source->truncated() || !nesting.whole();
  if (truncated) result.counters.Add(Counter::kTruncatedInput);
  if (source->corrupt()) result.counters.Add(Counter::kCorruptCompression);
  events.Finish(truncated || source->corrupt());
  return result;
}

}  // namespace inferdiff
