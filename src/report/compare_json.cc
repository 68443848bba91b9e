// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "report/alignment_report.h"
#include "report/compare_report.h"
#include "report/cycles_report.h"
#include "report/ledger_json.h"
#include "report/machine_report.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

Json ExactJson(Rational value) {
  return {{"num", JsonInt(value.num)}, {"den", JsonInt(value.den)}};
}

Json SetupJson(const std::vector<SetupRow>& setup) {
  constexpr std::string_view kRoles[] = {"shown", "reservation", "required"};
  Json list = Json::array();
  for (const SetupRow& row : setup) {
    list.push_back({{"field", row.field},
                    {"a", JsonText(row.a)},
                    {"b", JsonText(row.b)},
                    {"same", row.same ? Json(*row.same) : Json(nullptr)},
                    {"role", kRoles[static_cast<size_t>(row.role)]}});
  }
  return list;
}

/// Whole ns that add up, and beside them the fractions they were rounded from.
Json GapJson(const CompareResult& result) {
  const Gap& gap = result.gap;
  const std::vector<std::pair<const char*, Rational>> parts = {
      {"work", gap.work},
      {"rank_wait", gap.rank_wait},
      {"concurrency", gap.concurrency},
      {"foreign", gap.foreign},
      {"idle", gap.idle}};
  std::vector<Rational> values;
  for (const auto& part : parts) values.push_back(part.second);
  const std::vector<int64_t> rounded = AddingIntegers(values);
  int64_t total = 0;
  for (const int64_t part : rounded) total += part;
  Json json = {{"basis", IdOf(gap.basis)},
               {"slower", NameOf(gap.slower)},
               {"wall", JsonInt(total)}};
  Json exact = {{"a_wall", ExactJson(gap.a_total)},
                {"b_wall", ExactJson(gap.b_total)},
                {"wall", ExactJson(gap.total)}};
  for (size_t i = 0; i < parts.size(); ++i) {
    json[parts[i].first] = JsonInt(rounded[i]);
    exact[parts[i].first] = ExactJson(parts[i].second);
  }
  exact["idle_inside"] = ExactJson(gap.idle_inside);
  json["a_wall_ns"] = JsonRational(gap.a_total);
  json["b_wall_ns"] = JsonRational(gap.b_total);
  const HowKnown wait =
      WaitDifference(result.a_totals.wait_basis, result.b_totals.wait_basis);
  json["rank_wait_known"] = wait == HowKnown::kMeasured;
  json["rank_wait_how"] = IdOf(wait);
  json["exact"] = std::move(exact);
  return json;
}

Json OptionalJson(const std::optional<Rational>& value) {
  return value ? JsonRational(*value) : Json(nullptr);
}

/// Operations a step; a table may not tell.
Json OpsJson(const SideTotals& side, const SideAmounts& amounts) {
  return side.counts_known ? JsonRational(side.PerStep(amounts.count))
                           : Json(nullptr);
}

Json PartsJson(const std::vector<GapPart>& parts) {
  std::vector<Rational> deltas;
  for (const GapPart& part : parts) deltas.push_back(part.delta);
  const std::vector<int64_t> rounded = AddingIntegers(deltas);
  Json list = Json::array();
  for (size_t i = 0; i < parts.size(); ++i) {
    list.push_back({{"id", parts[i].id},
                    {"title", parts[i].title},
                    {"delta_ns", JsonInt(rounded[i])},
                    {"how", IdOf(parts[i].how)}});
    if (parts[i].scaled)
      list.back()["scaled_ns"] = JsonRational(*parts[i].scaled);
  }
  return list;
}

/// Of one side: the step without the profiler, and what profiling adds to it.
Json UntracedJson(std::optional<int64_t> untraced_ns, Basis basis,
                  Rational wall) {
  Json json = {{"step_ns", JsonInt(untraced_ns)}, {"added_ns", nullptr}};
  if (untraced_ns && basis == Basis::kWall)
    json["added_ns"] = JsonRational(wall - Rational{*untraced_ns, 1});
  return json;
}

Json AmountsJson(const SideAmounts& amounts) {
  return {{"count", JsonInt(amounts.count)},
          {"sum_ns", JsonInt(amounts.sum_ns)},
          {"attributed_ns", JsonInt(amounts.attributed_ns)},
          {"hidden_same_lane_ns", JsonInt(amounts.hidden_same_lane_ns)},
          {"hidden_cross_lane_ns", JsonInt(amounts.hidden_cross_lane_ns)}};
}

Json SideJson(const SideTotals& side) {
  return {{"steps", JsonInt(side.steps)},
          {"sums_known", side.sums_known},
          {"counts_known", side.counts_known},
          {"wall_ns", JsonInt(side.headline_ns)},
          {"ops", AmountsJson(side.all)},
          {"foreign_ns", JsonInt(side.foreign_ns)},
          {"idle_inside_ns", JsonInt(side.idle_inside_ns)},
          {"idle_outside_ns", JsonInt(side.idle_outside_ns)},
          {"left_out_ops", JsonInt(side.left_out_ops)},
          {"left_out_ns", JsonInt(side.left_out_ns)},
          {"rank_wait", AmountsJson(side.rank_wait)},
          {"rank_wait_basis", IdOf(side.wait_basis)}};
}

Json CategoryJson(const CompareResult& result, const CategoryComparison& row) {
  const Rational a = result.a_totals.PerStep(row.a.attributed_ns);
  const Rational b = result.b_totals.PerStep(row.b.attributed_ns);
  return {{"name", row.id},
          {"title", row.title},
          {"a_ns", JsonRational(a)},
          {"b_ns", JsonRational(b)},
          {"work_ns", JsonRational(row.work)},
          {"concurrency_ns", JsonRational(row.concurrency)},
          {"a", AmountsJson(row.a)},
          {"b", AmountsJson(row.b)}};
}

Json CategoriesJson(const CompareResult& result) {
  Json list = Json::array();
  for (const CategoryComparison& row : result.categories)
    list.push_back(CategoryJson(result, row));
  const auto pseudo = [&](const char* name, int64_t a, int64_t b) {
    list.push_back({{"name", name},
                    {"pseudo", true},
                    {"a_ns", JsonRational(result.a_totals.PerStep(a))},
                    {"b_ns", JsonRational(result.b_totals.PerStep(b))}});
  };
  const SideTotals& a = result.a_totals;
  const SideTotals& b = result.b_totals;
  pseudo("rank_wait", a.rank_wait.attributed_ns, b.rank_wait.attributed_ns);
  pseudo("foreign", a.foreign_ns, b.foreign_ns);
  pseudo("idle_inside", a.idle_inside_ns, b.idle_inside_ns);
  pseudo("idle", a.idle_outside_ns, b.idle_outside_ns);
  return list;
}

Json GroupsJson(const CompareResult& result) {
  Json list = Json::array();
  for (const GroupComparison& group : result.groups) {
    Json json = CategoryJson(result, group.whole);
    json["parts"] = Json::array();
    for (const CategoryComparison& part : group.parts)
      json["parts"].push_back(part.id);
    list.push_back(std::move(json));
  }
  return list;
}

/// What the side's overlap is worth; null where it is not known.
Json OverlapJson(const Overlap& overlap) {
  Json json = {{"bound_ns", OptionalJson(overlap.bound)},
               {"measured", nullptr}};
  if (!overlap.measured) return json;
  const MeasuredOverlap& measured = *overlap.measured;
  json["measured"] = {{"worth_ns", JsonRational(measured.worth)},
                      {"untraced", measured.untraced},
                      {"more_idle_ns", JsonRational(measured.more_idle)},
                      {"more_ops", OptionalJson(measured.more_ops)},
                      {"dilation_ns", OptionalJson(measured.dilation)},
                      {"alone_ns", OptionalJson(measured.alone)}};
  return json;
}

Json FloorJson(const FloorSplit& split) {
  return {{"count_ns", JsonRational(split.count)},
          {"price_ns", JsonRational(split.price)},
          {"rest_ns", JsonRational(split.rest)}};
}

/// The representative steps by role; they add up to their attributed time.
Json RolesJson(const CompareResult& result) {
  const Causes& causes = result.causes;
  const std::vector<AlignedRow>& rows = result.alignment.rows;
  Json roles = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const AlignedRow& row = rows[i];
    Json json = {{"role", IdOf(row.role)},
                 {"in_layers", row.in_layers},
                 {"a_layers", JsonInt(row.a.layers)},
                 {"b_layers", JsonInt(row.b.layers)},
                 {"a_ops", JsonInt(row.a.ops)},
                 {"b_ops", JsonInt(row.b.ops)},
                 {"a_ns", JsonInt(row.a.attributed_ns)},
                 {"b_ns", JsonInt(row.b.attributed_ns)}};
    if (i < causes.by_role.size()) json.update(FloorJson(causes.by_role[i]));
    roles.push_back(std::move(json));
  }
  return roles;
}

Json CausesJson(const CompareResult& result) {
  const Causes& causes = result.causes;
  const bool splits = causes.not_separable.empty();
  Json json = {
      {"untraced", causes.untraced},
      {"a_ns", JsonRational(causes.a_total)},
      {"b_ns", JsonRational(causes.b_total)},
      {"gap_ns", JsonRational(causes.total)},
      {"parts", PartsJson(causes.parts)},
      {"overlap", {{"a", OverlapJson(causes.a)}, {"b", OverlapJson(causes.b)}}},
      {"floors",
       {{"a_ns", OptionalJson(causes.floors.a)},
        {"b_ns", OptionalJson(causes.floors.b)},
        {"source", JsonText(causes.floors.source)},
        {"not_separable", JsonText(causes.not_separable)},
        {"work", splits ? FloorJson(causes.work) : Json(nullptr)}}}};
  Json groups = Json::array();
  for (size_t i = 0; i < causes.groups.size(); ++i) {
    const CategoryComparison& row = causes.groups[i].whole;
    Json group = {{"name", row.id},
                  {"title", row.title},
                  {"work_ns", JsonRational(row.work)},
                  {"a_ops", OpsJson(causes.a_base, row.a)},
                  {"b_ops", OpsJson(causes.b_base, row.b)}};
    if (splits) group.update(FloorJson(causes.by_group[i]));
    groups.push_back(std::move(group));
  }
  json["groups"] = std::move(groups);
  json["roles"] = RolesJson(result);
  json["idle"] = Json::array();
  for (const IdlePart& part : causes.idle) {
    json["idle"].push_back({{"id", part.id},
                            {"title", part.title},
                            {"a_ns", JsonRational(part.a)},
                            {"b_ns", JsonRational(part.b)},
                            {"delta_ns", JsonRational(part.b - part.a)}});
  }
  return json;
}

Json FindingsJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    const bool result = finding.kind == FindingKind::kResult;
    Json details = Json::array();
    for (const FindingDetail& detail : finding.details)
      details.push_back(
          {{"text", detail.text}, {"part_ns", JsonRational(detail.part)}});
    list.push_back({{"id", finding.id},
                    {"kind", result ? "result" : "doubt"},
                    {"text", finding.text},
                    {"how", IdOf(finding.how)},
                    {"prize_ns", OptionalJson(finding.prize)},
                    {"bound_ns", OptionalJson(finding.bound)},
                    {"advice", JsonText(finding.advice)},
                    {"details", std::move(details)}});
  }
  return list;
}

Json FamilyJson(const FamilyAmounts& family) {
  Json json = {{"family", family.family},
               {"example", family.example},
               {"category", IdOf(family.category)}};
  json.update(AmountsJson(family.amounts));
  return json;
}

void WriteDive(const CompareResult& result, const CategoryDive& dive,
               JsonStream& out) {
  out.Member("category", CategoryJson(result, dive.whole));
  out.Member("sentences", dive.sentences);
  out.Array("a_families", dive.a, FamilyJson);
  out.Array("b_families", dive.b, FamilyJson);
}

}  // namespace

void WriteCompareJson(const CompareResult& result, const TextSink& sink) {
  const ComparableResult& comparable = result.comparable;
  JsonStream out(sink);
  out.Members(JsonDocument("compare", result.a.source.rules_hash));
  out.Member("comparable", {{"verdict", IdOf(comparable.verdict)},
                            {"reasons", comparable.reasons},
                            {"unknown", comparable.unknown}});
  out.Member("setup", SetupJson(result.setup));
  out.Member("gap", GapJson(result));
  out.Member("untraced",
             {{"a", UntracedJson(result.untraced.a, result.gap.basis,
                                 result.gap.a_total)},
              {"b", UntracedJson(result.untraced.b, result.gap.basis,
                                 result.gap.b_total)}});
  out.Member("gap_parts", PartsJson(result.gap_parts));
  out.Member("causes", CausesJson(result));
  if (result.machine) out.Member("machine", MachineJson(result));
  out.Member("a_totals", SideJson(result.a_totals));
  out.Member("b_totals", SideJson(result.b_totals));
  out.Member("categories", CategoriesJson(result));
  out.Member("groups", GroupsJson(result));
  WriteCycles(result, out);
  WriteAlignment(result, out);
  out.Member("findings", FindingsJson(result.findings));
  if (result.dive)
    out.Object("dive", [&] { WriteDive(result, *result.dive, out); });
  if (result.role_dive) out.Member("role_dive", JsonOfRole(*result.role_dive));
  out.Object("a", [&] { WriteLedgerMembers(result.a, out); });
  out.Object("b", [&] { WriteLedgerMembers(result.b, out); });
}

}  // namespace inferdiff
