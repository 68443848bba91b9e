// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/text.h"
#include "base/version.h"
#include "ledger/per_step_fields.h"
#include "report/cycles_report.h"
#include "report/layers_report.h"
#include "report/ledger_facts.h"
#include "report/rank_report.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostExact = int64_t{1} << 53;

Json InputJson(const Provenance& source) {
  return {{"label", source.label},
          {"format", source.format},
          {"size_bytes", JsonInt(static_cast<int64_t>(source.size_bytes))},
          {"crc32", fmt::format("{:08x}", source.crc32)}};
}

Json HintBasisJson(HintBasis basis) {
  switch (basis) {
    case HintBasis::kKernels:
      return "kernels";
    case HintBasis::kMarkerForm:
      return "marker-form";
    case HintBasis::kNothing:
      break;
  }
  return nullptr;
}

Json TraceJson(const Provenance& source) {
  const TraceInfo& info = source.info;
  return {{"vendor", VendorId(info.vendor)},
          {"gpu", JsonText(info.gpu_name)},
          {"device", JsonInt(info.device)},
          {"rank", JsonInt(info.rank)},
          {"world_size", JsonInt(info.world_size)},
          {"framework_hint", JsonText(source.framework_hint.name)},
          {"framework_hint_basis", HintBasisJson(source.framework_hint.basis)},
          {"runtime", JsonText(info.runtime_version)},
          {"sm_count", JsonInt(info.sm_count)},
          {"truncated", info.truncated}};
}

Json DeviceJson(const DeviceTotals& device) {
  return {{"device", JsonInt(device.device)},
          {"rank", JsonInt(device.rank)},
          {"ops", JsonInt(device.ops)},
          {"kernels", JsonInt(device.kernels)},
          {"sum_ns", JsonInt(device.sum_ns)},
          {"busy_ns", JsonInt(device.busy_ns)},
          {"span_ns", JsonInt(device.span_ns)},
          {"idle_ns", JsonInt(device.idle_ns)},
          {"graph_launches", JsonInt(device.graph_launches)}};
}

void WriteSteps(const LedgerResult& ledger, JsonStream& out) {
  const Steps& steps = ledger.steps;
  out.Members({{"count", steps.steps.size()},
               {"used", JsonInt(ledger.used_steps)},
               {"group", ledger.group},
               {"evidence", IdOf(steps.evidence)},
               {"how", steps.how},
               {"cross_check", JsonText(steps.cross_check)},
               {"cross_check_agrees", steps.cross_check_agrees},
               {"notes", steps.notes},
               {"groups", JsonGroups(steps)}});
  out.Array("excluded", LeftOutSteps(steps, ledger.group),
            [&](const LeftOutStep& step) -> Json {
              Json json = {
                  {"step", step.step}, {"id", step.id}, {"reason", step.why}};
              if (!ledger.ranks.empty())
                json["rank"] = steps.steps[step.step].rank;
              return json;
            });
}

Json PerStepJson(const PerStep& per_step) {
  Json json;
  for (const auto& [id, stat] : kPerStepFields)
    json[id] = JsonStat(per_step.*stat);
  return json;
}

Json StepJson(const StepAmounts& step, bool wait_known) {
  return {
      {"step", step.step},
      {"wall_ns", JsonInt(step.wall)},
      {"span_ns", JsonInt(step.span)},
      {"sum_ns", JsonInt(step.sum)},
      {"busy_ns", JsonInt(step.busy)},
      {"rank_wait_ns", wait_known ? JsonInt(step.rank_wait) : Json(nullptr)},
      {"foreign_ns", JsonInt(step.foreign)},
      {"idle_ns", JsonInt(step.idle)},
      {"idle_inside_ns", JsonInt(step.idle_inside)},
      {"kernels", JsonInt(step.kernels)}};
}

void AddAmounts(const Amounts& amounts, Json& row) {
  row["count"] = JsonInt(amounts.count);
  row["sum_ns"] = JsonInt(amounts.sum_ns);
  row["exclusive_ns"] = JsonInt(amounts.exclusive_ns);
  row["attributed_ns"] = JsonInt(amounts.attributed_ns);
  row["hidden_ns"] = JsonInt(amounts.hidden_ns());
  row["hidden_same_lane_ns"] = JsonInt(amounts.hidden_same_lane_ns);
  row["hidden_cross_lane_ns"] = JsonInt(amounts.hidden_cross_lane_ns);
}

Json RankWaitJson(const LedgerResult& ledger) {
  Json row = {{"name", "rank_wait"},
              {"pseudo", true},
              {"known", IsMeasured(ledger.wait_basis)},
              {"basis", IdOf(ledger.wait_basis)}};
  AddAmounts(ledger.rank_wait, row);
  return row;
}

// Time that is no category's own: only its total is a quantity.
Json PseudoCategory(std::string_view name, int64_t total_ns, bool known) {
  Amounts amounts;
  amounts.sum_ns = amounts.attributed_ns = amounts.exclusive_ns = total_ns;
  Json row = {{"name", name}, {"pseudo", true}, {"known", known}};
  AddAmounts(amounts, row);
  return row;
}

Json CategoriesJson(const LedgerResult& ledger) {
  Json list = Json::array();
  for (size_t i = 0; i < kCategoryCount; ++i) {
    if (ledger.categories[i].count == 0) continue;
    Json row = {{"name", IdOf(static_cast<Category>(i))}};
    AddAmounts(ledger.categories[i], row);
    list.push_back(std::move(row));
  }
  const PerStep& per_step = ledger.per_step;
  list.push_back(RankWaitJson(ledger));
  list.push_back(PseudoCategory("foreign", per_step.foreign.total, true));
  list.push_back(
      PseudoCategory("idle", per_step.idle.total, per_step.idle.n > 0));
  return list;
}

Json FamilyJson(const FamilyRow& family) {
  Json row = {{"family", family.family},
              {"category", IdOf(family.category)},
              {"kernels", family.kernels}};
  AddAmounts(family.amounts, row);
  return row;
}

Json HistogramJson(const LedgerResult& ledger) {
  Json list = Json::array();
  for (size_t i = 0; i < ledger.histogram.size(); ++i) {
    const HistogramBucket& bucket = ledger.histogram[i];
    if (bucket.count == 0) continue;
    list.push_back({{"from_ns", JsonInt(i == 0 ? 0 : int64_t{1} << i)},
                    {"count", JsonInt(bucket.count)},
                    {"sum_ns", JsonInt(bucket.sum_ns)}});
  }
  return list;
}

Json CoverageJson(const Coverage& coverage) {
  return {{"unclassified_ns", JsonInt(coverage.unclassified_ns)},
          {"other_ns", JsonInt(coverage.other_ns)},
          {"total_ns", JsonInt(coverage.total_ns)},
          {"foreign_ns", JsonInt(coverage.foreign_ns)},
          {"outside_steps_ns", JsonInt(coverage.outside_steps_ns)},
          {"dropped_records",
           JsonInt(static_cast<int64_t>(coverage.dropped_records))}};
}

Json ImportJson(const ImportCounters& counters) {
  Json list = Json::array();
  for (const ImportRow& row : ImportRows(counters)) {
    list.push_back({{"counter", row.id},
                    {"severity", SeverityId(row.severity)},
                    {"count", JsonInt(static_cast<int64_t>(row.count))}});
  }
  return list;
}

}  // namespace

Json JsonInt(int64_t value) {
  if (value > kMostExact || value < -kMostExact)
    return fmt::format("{}", value);
  return value;
}

Json JsonInt(std::optional<int64_t> value) {
  return value ? JsonInt(*value) : Json(nullptr);
}

Json JsonText(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json JsonRational(Rational value) {
  if (value.num % value.den == 0) return JsonInt(value.num / value.den);
  // The nearest double to the printed decimal is the same on every machine.
  std::string text = Decimal(value, 3);
  if (text.starts_with(kMinus)) text.replace(0, kMinus.size(), "-");
  return Json::parse(text);
}

Json JsonStat(const Stat& stat) {
  return {{"total", JsonInt(stat.total)},   {"n", JsonInt(stat.n)},
          {"median", JsonInt(stat.median)}, {"p10", JsonInt(stat.p10)},
          {"p90", JsonInt(stat.p90)},       {"min", JsonInt(stat.min)},
          {"max", JsonInt(stat.max)}};
}

Json JsonSource(const Provenance& source) {
  return {{"input", InputJson(source)},
          {"trace", TraceJson(source)},
          {"import", ImportJson(source.counters)}};
}

Json JsonGroups(const Steps& steps) {
  Json list = Json::array();
  for (size_t i = 0; i < steps.groups.size(); ++i) {
    const StepGroup& group = steps.groups[i];
    list.push_back({{"group", i},
                    {"kind", IdOf(group.shape.kind)},
                    {"batch", JsonInt(group.shape.batch)},
                    {"tokens", JsonInt(group.shape.tokens)},
                    {"context", JsonInt(group.shape.context)},
                    {"context_min", JsonInt(group.context_min)},
                    {"context_max", JsonInt(group.context_max)},
                    {"steps", group.steps},
                    {"used", group.used}});
  }
  return list;
}

Json JsonKernel(const KernelRow& kernel) {
  Json row = {{"name", kernel.name},
              {"family", kernel.family},
              {"category", IdOf(kernel.category)},
              {"rule", kernel.rule},
              {"library", JsonText(kernel.library)}};
  AddAmounts(kernel.amounts, row);
  row["rank_wait_ns"] = JsonInt(kernel.rank_wait_ns);
  row["call_ns"] = JsonStat(kernel.call_ns);
  return row;
}

Json JsonRules(const std::vector<RuleHits>& hits) {
  Json list = Json::array();
  for (const RuleHits& rule : hits) {
    list.push_back({{"rule", rule.rule},
                    {"category", IdOf(rule.category)},
                    {"names", JsonInt(rule.names)},
                    {"ops", JsonInt(rule.ops)},
                    {"sum_ns", JsonInt(rule.sum_ns)}});
  }
  return list;
}

Json JsonCheck(const CaptureCheck& check) {
  const auto known = [](int64_t value) {
    return value > 0 ? JsonInt(value) : Json(nullptr);
  };
  return {{"id", IdOf(check.kind)},
          {"weight", IdOf(check.weight)},
          {"count", JsonInt(check.count)},
          {"of", known(check.of)},
          {"time_ns", known(check.time_ns)},
          {"of_ns", known(check.of_ns)},
          {"detail", JsonText(check.detail)},
          {"ranks", check.ranks},
          {"text", TextOf(check)}};
}

void WriteLedgerMembers(const LedgerResult& ledger, JsonStream& out) {
  out.Member("input", InputJson(ledger.source));
  out.Member("trace", TraceJson(ledger.source));
  out.Array("devices", ledger.devices, DeviceJson);
  out.Object("steps", [&] { WriteSteps(ledger, out); });
  if (!ledger.ranks.empty()) out.Member("rank_set", RankSetJson(ledger));
  out.Member("per_step", PerStepJson(ledger.per_step));
  const bool wait_known = ledger.wait_basis != WaitBasis::kUnknown;
  out.Array("step_amounts", ledger.step_amounts, [&](const StepAmounts& step) {
    return StepJson(step, wait_known);
  });
  WriteCycles(ledger, out);
  out.Member("categories", CategoriesJson(ledger));
  out.Array("kernels", ledger.kernels, JsonKernel);
  out.Array("families", ledger.families, FamilyJson);
  WriteLayers(ledger.layers, out);
  out.Member("histogram", HistogramJson(ledger));
  out.Member("rules", JsonRules(ledger.rule_hits));
  out.Member("coverage", CoverageJson(ledger.coverage));
  out.Array("integrity", ledger.capture_checks, JsonCheck);
  out.Member("import", ImportJson(ledger.source.counters));
}

Json JsonDocument(std::string_view kind, const std::string& rules_hash) {
  return {{"schema", kJsonSchema},
          {"kind", kind},
          {"version", Version()},
          {"rules_hash", rules_hash}};
}

void WriteLedgerJson(const LedgerResult& ledger, const TextSink& sink) {
  JsonStream out(sink);
  out.Members(JsonDocument("ledger", ledger.source.rules_hash));
  WriteLedgerMembers(ledger, out);
}

}  // namespace inferdiff
