// SPDX-License-Identifier: Apache-2.0
#include "layers/layers.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "layers/anchors.h"
#include "layers/borders.h"
#include "layers/kinds.h"

namespace inferdiff {
namespace {

constexpr size_t kMostListed = 3;  // of a kind of exception, in a sentence

void FillAlike(Layers* out) {
  for (const Layer& layer : out->layers) {
    out->layer_ops += layer.end - layer.begin;
    if (out->kinds[layer.kind].layers > 1)
      out->alike_ops += layer.end - layer.begin - layer.extra;
  }
}

bool AreAlike(const Layers& layers, uint64_t percent) {
  return uint64_t{layers.alike_ops} * 100 >= layers.layer_ops * percent;
}

void FillPasses(Layers* out) {
  for (uint32_t i = 0; i < out->layers.size(); ++i) {
    if (out->layers[i].pass == out->passes.size())
      out->passes.push_back({i, 0});
    ++out->passes.back().layers;
  }
}

void FillOps(size_t ops, Layers* out) {
  out->layer_of_op.assign(ops, kNone);
  out->slot_of_op.assign(ops, kNone);
  if (out->layers.empty()) return;
  for (uint32_t i = 0; i < out->layers.size(); ++i) {
    const Layer& layer = out->layers[i];
    std::fill(out->layer_of_op.begin() + layer.begin,
              out->layer_of_op.begin() + layer.end, i);
    if (i > 0) out->between_ops += layer.begin - out->layers[i - 1].end;
  }
  out->prologue_ops = out->layers.front().begin;
  out->epilogue_ops = static_cast<uint32_t>(ops) - out->layers.back().end;
}

Layers Fill(std::span<const LayerOp> ops, std::vector<Layer> found,
            LayerBasis basis) {
  Layers out;
  out.basis = basis;
  out.layers = std::move(found);
  FillPasses(&out);
  FillOps(ops.size(), &out);
  FindKinds(ops, &out);
  FillAlike(&out);
  return out;
}

/// Passes, after layers were left out.
void Renumber(std::vector<Layer>* layers) {
  uint32_t pass = 0;
  for (size_t i = 0; i < layers->size(); ++i) {
    Layer& layer = (*layers)[i];
    if (i > 0 && (*layers)[i - 1].end != layer.begin) ++pass;
    layer = {.begin = layer.begin, .end = layer.end, .pass = pass};
  }
}

std::string Count(uint64_t n, std::string_view noun) {
  return Plural(static_cast<int64_t>(n), noun);
}

/// "5 passes of 1 layer, 1 pass of 12 layers"
std::string PassesText(const Layers& layers) {
  std::string out;
  size_t runs = 0;
  for (size_t i = 0; i < layers.passes.size();) {
    size_t end = i;
    while (end < layers.passes.size() &&
           layers.passes[end].layers == layers.passes[i].layers)
      ++end;
    if (++runs > kMostListed) return out + ", ...";
    out +=
        fmt::format("{}{} of {}", runs > 1 ? ", " : "",
                    end - i == 1 ? "1 pass" : fmt::format("{} passes", end - i),
                    Count(layers.passes[i].layers, "layer"));
    i = end;
  }
  return out;
}

/// "3 of kind A (18 ops), 58 of kind B (31 ops)"
std::string KindsText(const Layers& layers) {
  std::string out;
  for (size_t i = 0; i < layers.kinds.size(); ++i) {
    const LayerKind& kind = layers.kinds[i];
    if (i == 2 * kMostListed)
      return out + fmt::format(", {} more kinds", layers.kinds.size() - i);
    out += fmt::format("{}{} of kind {} ({})", i > 0 ? ", " : "", kind.layers,
                       NameOfKind(i), Count(kind.ops, "op"));
  }
  return out;
}

/// "; 2 ops differ in layer 17"
std::string DifferencesText(const Layers& layers) {
  std::string out;
  size_t listed = 0, more = 0;
  for (size_t i = 0; i < layers.layers.size(); ++i) {
    const uint32_t differ =
        std::max(layers.layers[i].extra, layers.layers[i].missing);
    if (differ == 0) continue;
    if (listed == kMostListed) {
      ++more;
      continue;
    }
    ++listed;
    out += fmt::format("; {} {} in layer {}", Count(differ, "op"),
                       differ == 1 ? "differs" : "differ", i);
  }
  if (more > 0) out += "; some differ in " + Count(more, "more layer");
  return out;
}

std::string EvidenceText(const Layers& layers) {
  if (layers.layers.empty()) return "no repeated layer";
  std::string out = Count(layers.layers.size(), "layer");
  if (layers.passes.size() > 1) out += " in " + PassesText(layers);
  return out + ": " + KindsText(layers) + DifferencesText(layers);
}

LayerConfidence ConfidenceOf(const Layers& layers, bool by_norm) {
  const size_t n = layers.layers.size();
  if (n >= 3 && by_norm && AreAlike(layers, 90)) return LayerConfidence::kHigh;
  return n >= 2 && AreAlike(layers, 75) ? LayerConfidence::kMedium
                                        : LayerConfidence::kLow;
}

/// The only attention of a step: a layer where its parts are all there.
bool IsWholeLayer(std::span<const LayerOp> ops, const Layer& layer,
                  uint32_t anchor) {
  const auto is_work = [](const LayerOp& op) {
    return IsGemm(op.category) || op.category == Category::kMoeGemm;
  };
  const auto at = [&](uint32_t i) { return ops.begin() + i; };
  return ops[layer.begin].category == Category::kNorm &&
         std::any_of(at(layer.begin), at(anchor), is_work) &&
         std::count_if(at(anchor), at(layer.end), is_work) >= 2;
}

std::string HowAttention(const Layers& layers, bool by_norm) {
  if (layers.layers.size() == 1) {
    return "nothing repeats: one layer by its parts, a norm in front of "
           "attention and a feed-forward part behind it";
  }
  return by_norm ? "one block of attention a layer; a layer begins at the norm "
                   "in front of it"
                 : "one block of attention a layer; for want of a norm a layer "
                   "begins with what the first one, too, has in front of it";
}

Layers ByAttention(std::span<const LayerOp> ops) {
  const std::vector<uint32_t> anchors = AttentionAnchors(ops);
  Borders borders = AttentionBorders(ops, anchors);
  if (borders.layers.empty()) return {};
  if (anchors.size() == 1 &&
      !(borders.by_norm && IsWholeLayer(ops, borders.layers[0], anchors[0])))
    return {};
  Layers out = Fill(ops, std::move(borders.layers), LayerBasis::kAttention);
  out.how = HowAttention(out, borders.by_norm);
  out.confidence = ConfidenceOf(out, borders.by_norm);
  return out;
}

Layers ByRepetition(std::span<const LayerOp> ops) {
  Borders borders = RepeatedBorders(ops.size(), RepeatedAnchors(ops));
  if (borders.layers.empty()) return {};
  Layers out = Fill(ops, std::move(borders.layers), LayerBasis::kRepetition);
  // What the name opens only once is no layer.
  std::vector<Layer> repeated;
  for (const Layer& layer : out.layers)
    if (out.kinds[layer.kind].layers > 1) repeated.push_back(layer);
  if (repeated.size() < out.layers.size()) {
    Renumber(&repeated);
    out = Fill(ops, std::move(repeated), LayerBasis::kRepetition);
  }
  if (out.layers.empty()) return {};
  if (!AreAlike(out, 50)) return {};
  out.how = fmt::format(
      "no attention is known, but about every {} the same kernels come again; "
      "a layer may begin elsewhere",
      Count(out.kinds[out.layers.back().kind].ops, "op"));
  out.confidence = ConfidenceOf(out, false);
  return out;
}

}  // namespace

std::string_view IdOf(LayerBasis basis) {
  switch (basis) {
    case LayerBasis::kAttention:
      return "attention";
    case LayerBasis::kRepetition:
      return "repetition";
    case LayerBasis::kNothing:
      break;
  }
  return "none";
}

std::string_view IdOf(LayerConfidence confidence) {
  switch (confidence) {
    case LayerConfidence::kHigh:
      return "high";
    case LayerConfidence::kMedium:
      return "medium";
    case LayerConfidence::kLow:
      return "low";
    case LayerConfidence::kUnfounded:
      break;
  }
  return "none";
}

std::string NameOfKind(size_t kind) {
  std::string name;
  for (size_t i = kind + 1; i > 0; i = (i - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (i - 1) % 26));
  return name;
}

Layers FindLayers(std::span<const LayerOp> ops) {
  Layers out = ByAttention(ops);
  const bool poor = out.layers.size() >= 3 && !AreAlike(out, 50);
  if (out.layers.empty() || poor) {
    Layers other = ByRepetition(ops);
    if (!other.layers.empty() || poor) out = std::move(other);
  }
  if (out.layers.empty()) {
    out = {};
    FillOps(ops.size(), &out);
    out.how =
        "no layer was told from its parts and no stretch of kernels repeats "
        "three times";
  }
  out.evidence = EvidenceText(out);
  return out;
}

}  // namespace inferdiff
