// SPDX-License-Identifier: Apache-2.0
#include "report/html_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/html_table.h"

namespace inferdiff {
namespace {

constexpr size_t kNameWidth = 300;  // of a kernel; the table has all of it
constexpr int64_t kMostExact = int64_t{1} << 52;  // sums of two fit a double

int64_t Fitting(int64_t value) {
  return std::clamp(value, -kMostExact, kMostExact);
}

int64_t OrNone(uint32_t index) {
  return index == kNone ? -1 : static_cast<int64_t>(index);
}

/// Valid JSON, whatever the text; what does not print is spelled out.
std::string Quote(std::string_view text) {
  return nlohmann::json(Printable(text)).dump();
}

using Values = std::vector<int64_t>;

std::string ListOf(const Values& values) {
  fmt::memory_buffer out;
  for (size_t i = 0; i < values.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}{}", i > 0 ? "," : "",
                   values[i]);
  return fmt::to_string(out);
}

Values RunsOf(const Values& values) {
  Values runs;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 0 || values[i] != values[i - 1]) {
      runs.push_back(values[i]);
      runs.push_back(0);
    }
    ++runs.back();
  }
  return runs;
}

/// Writes one side's columns.
class SideWriter {
 public:
  SideWriter(const SideTimeline& side, const LedgerResult& ledger)
      : side_(side), ledger_(ledger) {}

  std::string Text(std::string_view name) {
    Begin(name);
    Kernels();
    Lanes();
    Differences("start",
                [](const TimelineOp& op) { return Fitting(op.start_ns); });
    Differences("ordinal", [](const TimelineOp& op) {
      return static_cast<int64_t>(
          std::min<uint64_t>(op.ordinal, uint64_t{kMostExact}));
    });
    Differences("group", [](const TimelineOp& op) { return OrNone(op.group); });
    Column("dur", [](const TimelineOp& op) { return Fitting(op.dur_ns); });
    Column("role",
           [](const TimelineOp& op) { return static_cast<int64_t>(op.role); });
    Runs("kind",
         [](const TimelineOp& op) { return static_cast<int64_t>(op.kind); });
    Runs("layer", [](const TimelineOp& op) { return OrNone(op.layer); });
    Runs("replay", [](const TimelineOp& op) { return OrNone(op.replay); });
    Runs("wait", [](const TimelineOp& op) { return Fitting(op.wait_ns); });
    Spans("layers", side_.layers);
    Spans("replays", side_.replays);
    return out_ + "}";
  }

 private:
  void Begin(std::string_view name) {
    out_ = fmt::format(
        R"({{"name":{},"label":{},"step":{},"rank":{},"wall":{},"absent":{})",
        Quote(name), Quote(ElideMiddle(ledger_.source.label, kNameWidth)),
        side_.step, Quote(ElideMiddle(side_.rank, kNameWidth)),
        side_.wall_ns ? std::to_string(Fitting(*side_.wall_ns)) : "null",
        Quote(side_.absent));
  }

  /// Those that run in the step, numbered as they come.
  void Kernels() {
    std::vector<int64_t> number(ledger_.kernels.size(), -1);
    Values kernels;
    std::string names;
    for (const TimelineOp& op : side_.ops) {
      int64_t& of = number[op.kernel];
      if (of < 0) {
        of = count_++;
        const KernelRow& kernel = ledger_.kernels[op.kernel];
        names +=
            fmt::format("{}[{},{}]", of > 0 ? "," : "",
                        Quote(ElideMiddle(Printable(kernel.name), kNameWidth)),
                        static_cast<int>(kernel.category));
      }
      kernels.push_back(of);
    }
    out_ +=
        fmt::format(R"(,"kernels":[{}],"kernel":[{}])", names, ListOf(kernels));
  }

  void Lanes() {
    Values lanes, counts;
    for (const TimelineLane& lane : side_.lanes) {
      lanes.push_back(lane.lane);
      counts.push_back(lane.end - lane.begin);
    }
    out_ += fmt::format(R"(,"lanes":[{}],"counts":[{}])", ListOf(lanes),
                        ListOf(counts));
  }

  template <typename Of>
  void Column(std::string_view name, const Of& of) {
    Add(name, Collect(of));
  }
  template <typename Of>
  void Runs(std::string_view name, const Of& of) {
    Add(name, RunsOf(Collect(of)));
  }
  template <typename Of>
  void Differences(std::string_view name, const Of& of) {
    Values values;
    for (const TimelineLane& lane : side_.lanes) {
      int64_t before = 0;
      for (uint32_t i = lane.begin; i < lane.end; ++i) {
        const int64_t value = of(side_.ops[i]);
        values.push_back(value - before);
        before = value;
      }
    }
    Add(name, values);
  }

  template <typename Of>
  Values Collect(const Of& of) const {
    Values values;
    for (const TimelineOp& op : side_.ops) values.push_back(of(op));
    return values;
  }

  void Add(std::string_view name, const Values& values) {
    out_ += fmt::format(",\"{}\":[{}]", name, ListOf(values));
  }

  void Spans(std::string_view name, const std::vector<TimelineSpan>& spans) {
    out_ += fmt::format(",\"{}\":[", name);
    for (size_t i = 0; i < spans.size(); ++i)
      out_ += fmt::format("{}[{},{}]", i > 0 ? "," : "",
                          Fitting(spans[i].begin_ns), Fitting(spans[i].end_ns));
    out_ += "]";
  }

  const SideTimeline& side_;
  const LedgerResult& ledger_;
  std::string out_;
  int64_t count_ = 0;
};

std::string Dictionaries() {
  std::string categories, roles;
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    categories +=
        fmt::format(R"({}["{}","{}","{}"])", i > 0 ? "," : "", IdOf(category),
                    TitleOf(category), ColourOf(IdOf(category)));
  }
  for (size_t i = 0; i < kRoleCount; ++i)
    roles +=
        fmt::format(R"({}"{}")", i > 0 ? "," : "", IdOf(static_cast<Role>(i)));
  return fmt::format(R"("categories":[{}],"roles":[{}])", categories, roles);
}

}  // namespace

std::string TimelineJson(const CompareResult& result) {
  const Timeline timeline = TimelineOf(result);
  return fmt::format(R"({{{},"sides":[{},{}]}})", Dictionaries(),
                     SideWriter(timeline.a, result.a).Text("A"),
                     SideWriter(timeline.b, result.b).Text("B"));
}

std::string TimelineJson(const LedgerResult& ledger) {
  return fmt::format(R"({{{},"sides":[{}]}})", Dictionaries(),
                     SideWriter(TimelineOf(ledger), ledger).Text(""));
}

}  // namespace inferdiff
