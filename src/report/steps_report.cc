// SPDX-License-Identifier: Apache-2.0
#include "report/steps_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/text.h"
#include "report/layers_report.h"
#include "report/ledger_facts.h"
#include "report/ledger_json.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

std::optional<int64_t> WallOf(const Step& step) {
  if (!step.next_begin_ns) return std::nullopt;
  return *step.next_begin_ns - step.begin_ns;
}

// Work of more than a step in front of the first one.
std::string LateBegin(const StepsReport& report) {
  if (report.steps.steps.empty()) return "";
  const Step& first = report.steps.steps.front();
  int64_t late_ns = 0;
  if (__builtin_sub_overflow(first.begin_ns, report.first_op_ns, &late_ns) ||
      late_ns <= std::max<int64_t>(WallOf(first).value_or(0), 1'000'000))
    return "";
  return fmt::format(
      "The first step begins {} after the trace's first operation; what runs "
      "before it is in no step.",
      Duration({late_ns, 1}));
}

Section EvidenceSection(const StepsReport& report) {
  const Steps& steps = report.steps;
  const uint32_t used =
      steps.groups.empty() ? 0 : steps.groups[steps.main_group].used;
  Section section;
  section.before.push_back(fmt::format(
      "{}  {}, {} of them accounted, {}", Quoted(report.source.label),
      Plural(static_cast<int64_t>(steps.steps.size()), "step"), used,
      Plural(static_cast<int64_t>(steps.replays.size()), "graph replay")));
  section.after = StepEvidence(steps, steps.main_group);
  if (std::string late = LateBegin(report); !late.empty())
    section.after.push_back(std::move(late));
  return section;
}

Section GroupsSection(const Steps& steps) {
  Table table;
  table.columns = {{"Group", Align::kRight},
                   {"steps of equal shape", Align::kLeft},
                   {"steps"},
                   {"used"},
                   {"", Align::kLeft}};
  for (size_t i = 0; i < steps.groups.size(); ++i) {
    const StepGroup& group = steps.groups[i];
    std::string shape = ShapeText(group.shape);
    if (group.context_min && group.context_max && !group.shape.context) {
      shape += fmt::format(", context {} to {}", Grouped(*group.context_min),
                           Grouped(*group.context_max));
    }
    table.Add({fmt::format("{}", i), shape, fmt::format("{}", group.steps),
               fmt::format("{}", group.used),
               i == steps.main_group ? "accounted" : ""});
  }
  return {.title = "Groups", .table = std::move(table)};
}

// Times from the first operation of the trace.
Section StepsSection(const StepsReport& report) {
  const Steps& steps = report.steps;
  std::vector<Rational> walls;
  for (const Step& step : steps.steps)
    if (const auto wall = WallOf(step)) walls.push_back({*wall, 1});
  const TimeUnit unit = walls.empty() ? kMilliseconds : UnitFor(walls);
  Table table;
  table.columns = {{"Step", Align::kRight},
                   {"group", Align::kRight},
                   {"begins at ms"},
                   {fmt::format("wall {}", unit.name)},
                   {"ops"},
                   {"marker", Align::kLeft, true, true},
                   {"left out", Align::kLeft}};
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    const auto wall = WallOf(step);
    table.Add(
        {fmt::format("{}", i), fmt::format("{}", step.group),
         Decimal({step.begin_ns - report.first_op_ns, 1}, 3, kMilliseconds.ns),
         wall ? Decimal({*wall, 1}, 3, unit.ns) : std::string(kDash),
         fmt::format("{}", step.ops), step.marker, step.excluded_id});
  }
  return {.title = "Steps", .table = std::move(table), .folded = true};
}

std::string TsvInt(const std::optional<int64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

Document StepsDocument(const StepsReport& report) {
  Document document{.title = "inferdiff steps: " + report.source.label,
                    .sections = {}};
  document.sections.push_back(EvidenceSection(report));
  document.sections.push_back(GroupsSection(report.steps));
  if (report.layers) {
    document.sections.push_back(LayersSection(*report.layers));
    for (Section& section : RoleSections(*report.layers))
      document.sections.push_back(std::move(section));
  }
  document.sections.push_back(StepsSection(report));
  Section doubts{.title = "Read with care"};
  for (const CaptureCheck& check : report.checks)
    doubts.before.push_back(TextOf(check));
  if (!doubts.before.empty()) document.sections.push_back(std::move(doubts));
  document.sections.push_back(ProvenanceSection({&report.source}));
  return document;
}

void WriteStepsJson(const StepsReport& report, const TextSink& sink) {
  const Steps& steps = report.steps;
  JsonStream out(sink);
  out.Members(JsonDocument("steps", report.source.rules_hash));
  out.Members(JsonSource(report.source));
  out.Members({{"evidence", IdOf(steps.evidence)},
               {"how", steps.how},
               {"cross_check", steps.cross_check},
               {"cross_check_agrees", steps.cross_check_agrees},
               {"notes", steps.notes},
               {"main_group", steps.main_group},
               {"groups", JsonGroups(steps)}});
  if (report.layers) WriteLayers(*report.layers, out);
  out.Array("integrity", report.checks, JsonCheck);
  size_t number = 0;
  out.Array("steps", steps.steps, [&](const Step& step) -> Json {
    return {{"step", number++},
            {"group", step.group},
            {"kind", IdOf(step.shape.kind)},
            {"batch", JsonInt(step.shape.batch)},
            {"tokens", JsonInt(step.shape.tokens)},
            {"context", JsonInt(step.shape.context)},
            {"begin_ns", JsonInt(step.begin_ns)},
            {"wall_ns", JsonInt(WallOf(step))},
            {"ops", step.ops},
            {"marker", step.marker},
            {"excluded", step.excluded_id},
            {"reason", step.excluded_why}};
  });
}

std::string StepsTsv(const StepsReport& report) {
  std::string out = TsvProvenance(report.source);
  out +=
      "step\tgroup\tkind\tbatch\ttokens\tcontext\tbegin_ns\twall_ns\tops\t"
      "excluded\tmarker\n";
  for (size_t i = 0; i < report.steps.steps.size(); ++i) {
    const Step& step = report.steps.steps[i];
    out +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", i,
                    step.group, IdOf(step.shape.kind), TsvInt(step.shape.batch),
                    TsvInt(step.shape.tokens), TsvInt(step.shape.context),
                    step.begin_ns, TsvInt(WallOf(step)), step.ops,
                    TsvField(step.excluded_id), TsvField(step.marker));
  }
  return out;
}

}  // namespace inferdiff
