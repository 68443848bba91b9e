// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "probes/result.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

Json ValueOf(const Fact& fact) {
  return std::visit(
      [](const auto& value) -> Json {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, double>)
          return std::isfinite(value) ? Json(Rounded(value)) : Json(nullptr);
        else
          return value;
      },
      fact.value);
}

void AddFacts(const Facts& facts, Json* object) {
  for (const Fact& fact : facts) (*object)[fact.name] = ValueOf(fact);
}

Json ResultJson(const Result& result) {
  Json json = {{"id", result.id}};
  if (!result.name.empty()) json["name"] = result.name;
  AddFacts(result.facts, &json);
  if (!result.tracing.empty()) json["tracing"] = result.tracing;
  json["value"] = Rounded(result.measured.median);
  json["unit"] = result.unit;
  json["spread"] = Rounded(result.measured.spread);
  json["rounds"] = result.measured.rounds;
  json["steady"] = result.measured.steady;
  return json;
}

Result ResultOf(const Json& json) {
  Result result;
  result.id = json.at("id").get<std::string>();
  result.name = json.value("name", "");
  result.unit = json.at("unit").get<std::string>();
  result.tracing = json.value("tracing", "");
  result.measured.median = json.at("value").get<double>();
  result.measured.spread = json.value("spread", 0.0);
  result.measured.rounds = json.value("rounds", 0);
  return result;
}

// Lists of objects and texts, one item a line: a person may read it, too.
void AppendList(const std::string& key, const Json& list, std::string* text) {
  if (list.empty()) return;
  *text += ",\n \"" + key + "\": [";
  for (size_t i = 0; i < list.size(); ++i)
    *text += (i ? ",\n  " : "\n  ") +
             list[i].dump(-1, ' ', false, Json::error_handler_t::replace);
  *text += "]";
}

}  // namespace

double Rounded(double value) { return std::round(value * 1000) / 1000; }

std::string JsonText(const Report& report) {
  Json head = {{"schema", 1},
               {"kind", "probe"},
               {"version", report.version},
               {"command", report.command},
               {"runtime", report.runtime},
               {"device", report.device},
               {"tracing", report.tracing}};
  if (!report.verdict.empty()) head["verdict"] = report.verdict;
  if (!report.clocks.empty()) AddFacts(report.clocks, &head["clocks"]);
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();  // its brace: the lists go on
  Json info = Json::array(), results = Json::array(), absent = Json::array();
  for (const auto& [what, facts] : report.info) {
    info.push_back({{"what", what}});
    AddFacts(facts, &info.back());
  }
  for (const Result& result : report.results)
    results.push_back(ResultJson(result));
  for (const Absent& missing : report.absent)
    absent.push_back({{"what", missing.what}, {"why", missing.why}});
  AppendList("info", info, &text);
  AppendList("results", results, &text);
  AppendList("absent", absent, &text);
  AppendList("doubts", report.doubts, &text);
  AppendList("reasons", report.reasons, &text);
  return text + "}\n";
}

Report ReadReport(const std::string& text) {
  try {
    const Json root = Json::parse(text);
    if (root.value("kind", "") != "probe" || root.value("schema", 0) != 1)
      throw std::runtime_error("not a probe's results of schema 1");
    Report report;
    report.device = root.value("device", "");
    for (const Json& result : root.value("results", Json::array()))
      report.results.push_back(ResultOf(result));
    return report;
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("not a probe's results: ") +
                             error.what());
  }
}

}  // namespace inferdiff
