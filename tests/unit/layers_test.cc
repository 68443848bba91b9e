// SPDX-License-Identifier: Apache-2.0
// Layers on made-up steps: a letter an op.
#include "layers/layers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <vector>

namespace inferdiff {
namespace {

// By the letter: n norm, g GEMM, a attention (t, u other kinds, r its
// reduction), s activation, m expert GEMM, k routing, c communication, z
// sampling, anything else elementwise. Capitals are other kernels of the same
// category; `|` begins the next replay.
Category CategoryOf(char letter) {
  switch (letter | 0x20) {
    case 'n':
      return Category::kNorm;
    case 'g':
    case 'q':
    case 'o':
    case 'd':
      return Category::kDenseGemm;
    case 'a':
    case 't':
    case 'u':
    case 'r':
      return Category::kAttention;
    case 's':
      return Category::kActivation;
    case 'm':
      return Category::kMoeGemm;
    case 'k':
      return Category::kMoeRouting;
    case 'c':
      return Category::kCommunication;
    case 'z':
      return Category::kSampling;
    default:
      return Category::kElementwiseMemory;
  }
}

Layers Find(std::string_view text) {
  std::vector<LayerOp> ops;
  uint32_t replay = 0;
  for (const char letter : text) {
    if (letter == ' ') continue;
    if (letter == '|') {
      ++replay;
      continue;
    }
    ops.push_back({static_cast<uint32_t>(letter), CategoryOf(letter), replay});
  }
  return FindLayers(ops);
}

std::string Times(size_t n, std::string_view text) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

using Numbers = std::vector<uint32_t>;

Numbers Begins(const Layers& layers) {
  Numbers out;
  for (const Layer& layer : layers.layers) out.push_back(layer.begin);
  return out;
}

TEST(Layers, BeginAtTheNormInFrontOfAttention) {
  // e: embedding; N: the first norm adds no residual.
  const Layers layers = Find("e Nqxaongsd" + Times(2, "nqxaongsd") + "ngz");
  EXPECT_EQ(layers.evidence,
            "3 layers: 3 of kind A (9 ops); 1 op differs in layer 0");
  EXPECT_EQ(Begins(layers), (Numbers{1, 10, 19}));
  EXPECT_EQ(layers.confidence, LayerConfidence::kHigh);
  EXPECT_EQ(layers.prologue_ops, 1U);
  EXPECT_EQ(layers.epilogue_ops, 3U);
  EXPECT_EQ(layers.layer_of_op[0], kNone);
  EXPECT_EQ(layers.slot_of_op[1], 0U);  // in the place of the other norm
  EXPECT_EQ(layers.slot_of_op[18], 8U);
  EXPECT_EQ(layers.layer_of_op[28], kNone);
}

TEST(Layers, NormsOfQueryAndKeyAreInside) {
  const Layers layers = Find("e " + Times(3, "nqNNaongsd") + "ngz");
  EXPECT_EQ(Begins(layers), (Numbers{1, 11, 21}));
}

TEST(Layers, ANormOfTheOutputEndsALayer) {
  const Layers layers = Find("e " + Times(3, "nqaoNngsdN") + "ngz");
  EXPECT_EQ(Begins(layers), (Numbers{1, 11, 21}));
}

TEST(Layers, DenseFirstLayersAreAKindOfTheirOwn) {
  const Layers layers =
      Find("e " + Times(3, "nqaongsd") + Times(58, "nqaongkkmsmkwx") + "ngz");
  EXPECT_EQ(layers.evidence,
            "61 layers: 3 of kind A (8 ops), 58 of kind B (14 ops)");
}

TEST(Layers, AlternatingAttentionMakesTwoKinds) {
  const Layers layers = Find("e " + Times(12, "nqaongsd nqtrongsd") + "ngz");
  EXPECT_EQ(layers.evidence,
            "24 layers: 12 of kind A (8 ops), 12 of kind B (9 ops)");
  EXPECT_EQ(layers.layers[2].kind, 0U);
  EXPECT_EQ(layers.layers[3].kind, 1U);
}

TEST(Layers, AStrayOpDiffersAndMakesNoKind) {
  const Layers layers = Find("e " + Times(8, "nqaongsd") + "nqaoxngsd" +
                             Times(3, "nqaongsd") + "ngz");
  EXPECT_EQ(layers.evidence,
            "12 layers: 12 of kind A (8 ops); 1 op differs in layer 8");
  EXPECT_EQ(layers.slot_of_op[1 + 64 + 4], kNone);
  EXPECT_EQ(layers.slot_of_op[1 + 64 + 5], 4U);
}

TEST(Layers, OrderOfLanesMakesNoKind) {
  const Layers layers =
      Find("e " + Times(3, "nqaonkGSDmsmk nqaonGkSmDsmk") + "ngz");
  EXPECT_EQ(layers.evidence, "6 layers: 6 of kind A (13 ops)");
}

TEST(Layers, DraftsAndVerificationArePasses) {
  const Layers layers =
      Find(Times(3, "nqaoNgsdnGz|") + Times(4, "nqtoNgkmsmk") + "nGz");
  EXPECT_EQ(layers.evidence,
            "7 layers in 3 passes of 1 layer, 1 pass of 4 layers: 3 of kind A "
            "(8 ops), 4 of kind B (11 ops)");
  EXPECT_EQ(Begins(layers), (Numbers{0, 11, 22, 33, 44, 55, 66}));
  EXPECT_EQ(layers.between_ops, 9U);
}

TEST(Layers, OneLayerIsToldByItsParts) {
  const Layers layers = Find("ee nqaongsd ngz");
  EXPECT_EQ(layers.evidence, "1 layer: 1 of kind A (8 ops)");
  EXPECT_EQ(layers.confidence, LayerConfidence::kLow);
  EXPECT_EQ(Begins(layers), (Numbers{2}));
  EXPECT_EQ(layers.epilogue_ops, 3U);
}

TEST(Layers, TwoLayersAreOneKind) {
  const Layers layers = Find("e Nqaongsd nqaongsd ngz");
  EXPECT_EQ(layers.evidence,
            "2 layers: 2 of kind A (8 ops); 1 op differs in layer 0");
}

TEST(Layers, WithoutNormsTheFirstLayerTellsTheBegin) {
  // b is the residual add, which layer 0 has not in front of it.
  const Layers layers = Find("ef" + Times(4, "vwqaobvwgsdb") + "vwgz");
  EXPECT_EQ(Begins(layers), (Numbers{2, 14, 26, 38}));
  EXPECT_EQ(layers.layers.back().end, 50U);
}

TEST(Layers, WithoutAttentionRepetitionIsSaid) {
  const Layers layers = Find("ef" + Times(5, "vwgxygs") + "gz");
  EXPECT_EQ(layers.basis, LayerBasis::kRepetition);
  EXPECT_EQ(layers.layers.size(), 5U);
  EXPECT_NE(layers.confidence, LayerConfidence::kHigh);
}

TEST(Layers, NothingIsFoundInNothing) {
  EXPECT_TRUE(Find("").layers.empty());
  EXPECT_TRUE(Find("efgefhijklwv").layers.empty());
  EXPECT_EQ(Find("a").evidence, "no repeated layer");
  EXPECT_EQ(Find("efg").layer_of_op, (Numbers{kNone, kNone, kNone}));
}

TEST(Layers, KindsAreNamedAsColumns) {
  EXPECT_EQ(NameOfKind(0), "A");
  EXPECT_EQ(NameOfKind(25), "Z");
  EXPECT_EQ(NameOfKind(26), "AA");
  EXPECT_EQ(NameOfKind(27), "AB");
}

// Steps made to be slow: every layer unlike the others, all attention, norms
// only, passes without end.
TEST(Layers, AMillionOpsAreFast) {
  const char* const patterns[] = {"a",    "as",      "an",     "agngn", "n",
                                  "anz",  "nqaongs", "az|",    "agn|",  "x",
                                  "ansz", "xy",      "aqngnz", "s|a"};
  for (const char* pattern : patterns) {
    for (const uint32_t names : {1U, 7919U, 1000003U}) {
      std::vector<LayerOp> ops;
      uint32_t replay = 0;
      while (ops.size() < 1000000) {
        for (const char* at = pattern; *at != '\0'; ++at) {
          if (*at == '|') ++replay;
          const auto i = static_cast<uint32_t>(ops.size());
          ops.push_back({i * 7 % names, CategoryOf(*at), replay});
        }
      }
      const auto begin = std::chrono::steady_clock::now();
      const Layers layers = FindLayers(ops);
      const std::chrono::duration<double> took =
          std::chrono::steady_clock::now() - begin;
      EXPECT_EQ(layers.layer_of_op.size(), ops.size());
      EXPECT_LT(took.count(), 20) << pattern << " of " << names;
    }
  }
}

}  // namespace
}  // namespace inferdiff
