// SPDX-License-Identifier: Apache-2.0
#include "report/layers_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "layers/role.h"
#include "report/ledger_json.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRanges = 6;

/// Layers of a kind: "0, 2, 4" or "3 to 60".
std::string RangesOf(const Layers& layers, size_t kind) {
  std::string out;
  size_t ranges = 0;
  for (size_t i = 0; i < layers.layers.size();) {
    if (layers.layers[i].kind != kind) {
      ++i;
      continue;
    }
    const size_t first = i;
    while (i < layers.layers.size() && layers.layers[i].kind == kind) ++i;
    if (++ranges > kMostRanges) return out + ", " + std::string(kEllipsis);
    if (!out.empty()) out += ", ";
    out += fmt::format("{}", first);
    if (i - first > 1) out += fmt::format(" to {}", i - 1);
  }
  return out;
}

/// Of kernels in no layer.
std::string OutsideText(const Layers& layers) {
  std::string out =
      fmt::format("{} in front of the layers, {} behind them",
                  Plural(layers.prologue_ops, "op"), layers.epilogue_ops);
  if (layers.between_ops > 0)
    out += fmt::format(", {} between passes", layers.between_ops);
  return out + ".";
}

Json LayerJson(const StepLayers& step, const Layer& layer) {
  Json ordinals = Json::array(), slots = Json::array(), roles = Json::array();
  for (uint32_t op = layer.begin; op < layer.end; ++op) {
    ordinals.push_back(JsonInt(static_cast<int64_t>(step.ops[op].ordinal)));
    const uint32_t slot = step.layers.slot_of_op[op];
    slots.push_back(slot == kNone ? Json(nullptr) : Json(slot));
    roles.push_back(IdOf(step.ops[op].role.role));
  }
  return {{"kind", NameOfKind(layer.kind)},
          {"pass", layer.pass},
          {"extra", layer.extra},
          {"missing", layer.missing},
          {"ordinals", std::move(ordinals)},
          {"slots", std::move(slots)},
          {"roles", std::move(roles)}};
}

Json OutsideJson(const StepLayers& step) {
  Json ordinals = Json::array(), roles = Json::array();
  for (const PlacedOp& op : step.ops) {
    if (op.layer != kNone) continue;
    ordinals.push_back(JsonInt(static_cast<int64_t>(op.ordinal)));
    roles.push_back(IdOf(op.role.role));
  }
  return {{"ordinals", std::move(ordinals)}, {"roles", std::move(roles)}};
}

Json RoleJson(const RoleRow& row) {
  return {{"role", IdOf(row.role)},
          {"in_layers", row.in_layers},
          {"layers", JsonInt(row.layers)},
          {"ops", JsonInt(row.ops)},
          {"attributed_ns", JsonInt(row.attributed_ns)}};
}

}  // namespace

std::string LayersSentence(const StepLayers& step) {
  const Layers& layers = step.layers;
  std::string out = fmt::format("Step {}: {}. ", step.step, layers.evidence);
  if (!layers.layers.empty()) out += OutsideText(layers) + " ";
  if (step.by_record)
    out += "Ops are in the order of their records: by start, layers scatter. ";
  return out + fmt::format("Confidence: {}; {}.", IdOf(layers.confidence),
                           layers.how);
}

Section LayersSection(const StepLayers& step) {
  const Layers& layers = step.layers;
  Section section{.title = "Layers"};
  section.before.push_back(LayersSentence(step));
  if (layers.kinds.empty()) return section;
  Table table;
  table.columns = {
      {"Kind", Align::kLeft}, {"layers"}, {"ops"}, {"which", Align::kLeft}};
  for (size_t i = 0; i < layers.kinds.size(); ++i) {
    table.Add({NameOfKind(i), fmt::format("{}", layers.kinds[i].layers),
               fmt::format("{}", layers.kinds[i].ops), RangesOf(layers, i)});
  }
  section.table = std::move(table);
  return section;
}

void WriteLayers(const StepLayers& step, JsonStream& out) {
  const Layers& layers = step.layers;
  out.Object("layers", [&] {
    out.Members({{"step", step.step},
                 {"count", layers.layers.size()},
                 {"evidence", layers.evidence},
                 {"how", layers.how},
                 {"basis", IdOf(layers.basis)},
                 {"confidence", IdOf(layers.confidence)},
                 {"order", step.by_record ? "records" : "start"},
                 {"prologue_ops", layers.prologue_ops},
                 {"between_ops", layers.between_ops},
                 {"epilogue_ops", layers.epilogue_ops}});
    size_t number = 0;
    out.Array("kinds", layers.kinds, [&](const LayerKind& kind) -> Json {
      return {{"name", NameOfKind(number++)},
              {"layers", kind.layers},
              {"ops", kind.ops},
              {"typical", kind.typical}};
    });
    out.Array("passes", layers.passes, [&](const LayerPass& pass) -> Json {
      return {{"first", pass.first}, {"layers", pass.layers}};
    });
    out.Array("layers", layers.layers,
              [&](const Layer& layer) { return LayerJson(step, layer); });
    out.Member("outside", OutsideJson(step));
    out.Array("roles", step.roles, RoleJson);
  });
}

}  // namespace inferdiff
