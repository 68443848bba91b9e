// SPDX-License-Identifier: Apache-2.0
#include "compare/model_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace inferdiff {
namespace {

constexpr WholeRange kHeads{1, 65536};
constexpr WholeRange kFromZero{0, 1 << 24};
constexpr WholeRange kExpertRange{0, 65536};

// fp8 caches with scales among the numbers, bytes a token.
constexpr int64_t kSparseLatentBytes = 656;  // 512 + 4 scales + 64 bf16
constexpr int64_t kCompressedBytes = 584;    // 448 + 64 bf16 + 8 scales

}  // namespace

ModelBuilder::ModelBuilder(const ConfigFields& fields,
                           const WeightFormats& formats, ModelConfig* model)
    : fields_(fields),
      formats_(formats),
      model_(model),
      hidden_(fields.NeededWhole("hidden_size")) {}

void ModelBuilder::Add(WeightMatrix matrix) {
  constexpr int64_t kMostSide = int64_t{1} << 28;
  if (matrix.out > kMostSide || matrix.in > kMostSide)
    fields_.Fail("a weight of more than 2^28 rows or columns");
  for (WeightMatrix& other : model_->matrices) {
    if (other.use != matrix.use || other.out != matrix.out ||
        other.in != matrix.in || other.split != matrix.split ||
        other.unit != matrix.unit || other.routed != matrix.routed ||
        !(other.format == matrix.format))
      continue;
    other.count += matrix.count;
    return;
  }
  model_->matrices.push_back(std::move(matrix));
}

void ModelBuilder::Add(WeightMatrix matrix, int64_t layer,
                       std::initializer_list<const char*> names) {
  std::vector<std::string> modules;
  for (const char* name : names)
    modules.push_back(fmt::format("model.layers.{}.{}", layer, name));
  matrix.format = modules.empty() ? formats_.plain() : formats_.Of(modules);
  Add(std::move(matrix));
}

void ModelBuilder::Add(LayerCache cache) {
  for (LayerCache& other : model_->caches) {
    if (other.use != cache.use || other.heads != cache.heads ||
        other.numbers != cache.numbers || other.stride != cache.stride ||
        other.most != cache.most || other.fixed_bytes != cache.fixed_bytes)
      continue;
    other.layers += cache.layers;
    return;
  }
  model_->caches.push_back(cache);
}

void ModelBuilder::AddAttention() {
  if (fields_.Has("compress_ratios"))
    AddCompressed();
  else if (fields_.Has("kv_lora_rank"))
    AddLatent();
  else
    AddHeads();
}

/// How many of the last tokens a layer looks at; 0: all.
int64_t ModelBuilder::WindowOf(int64_t layer,
                               const std::vector<std::string>& types) const {
  const auto window = fields_.Whole("sliding_window", kFromZero);
  const auto index = static_cast<size_t>(layer);
  if (index < types.size()) {
    const std::string& type = types[index];
    if (type == "full_attention") return 0;
    if (type == "sliding_attention")
      return fields_.NeededWhole("sliding_window");
    fields_.Fail(
        fmt::format("layer_types: '{}' is not known", Printable(type)));
  }
  if (!types.empty()) fields_.Fail("layer_types names fewer layers than exist");
  if (!window || *window == 0 ||
      !fields_.Truth("use_sliding_window").value_or(true))
    return 0;
  if (model_->type.starts_with("gemma") || fields_.Has("max_window_layers") ||
      fields_.Has("sliding_window_pattern"))
    fields_.Fail(
        "sliding_window without layer_types: which layers slide is not known");
  return *window;
}

void ModelBuilder::AddHeads() {
  const int64_t heads = fields_.NeededWhole("num_attention_heads", kHeads);
  const int64_t kv_heads =
      fields_.Whole("num_key_value_heads", kHeads).value_or(heads);
  const auto stated = fields_.Whole("head_dim", kHeads);
  if (!stated && hidden_ % heads != 0)
    fields_.Fail(
        "head_dim is missing, and hidden_size is no multiple of "
        "num_attention_heads");
  const int64_t dim = stated.value_or(hidden_ / heads);
  const std::vector<std::string> types = fields_.Texts("layer_types");
  for (int64_t layer = 0; layer < model_->layers; ++layer) {
    const auto project = [&](int64_t count, const char* name) {
      Add({ByteUse::kQkvProj, count * dim, hidden_, ShardBy::kOut, dim}, layer,
          {name, "self_attn.qkv_proj"});
    };
    project(heads, "self_attn.q_proj");
    project(kv_heads, "self_attn.k_proj");
    project(kv_heads, "self_attn.v_proj");
    Add({ByteUse::kOProj, hidden_, heads * dim, ShardBy::kIn, dim}, layer,
        {"self_attn.o_proj"});
    LayerCache cache;
    cache.heads = kv_heads;
    cache.numbers = 2 * dim;
    cache.most = WindowOf(layer, types);
    Add(cache);
  }
}

void ModelBuilder::AddIndexer(int64_t layer, int64_t q_lora_rank,
                              int64_t stride) {
  const int64_t heads = fields_.NeededWhole("index_n_heads", kHeads);
  const int64_t dim = fields_.NeededWhole("index_head_dim", kHeads);
  // Every rank needs all scores: nothing is dealt out.
  Add({ByteUse::kIndexer, heads * dim, q_lora_rank}, layer,
      {"self_attn.indexer.wq_b"});
  // The weights of the heads' scores stay plain.
  Add({ByteUse::kIndexer, heads, hidden_}, layer, {});
  if (stride == 1)
    Add({ByteUse::kIndexer, dim, hidden_}, layer, {"self_attn.indexer.wk"});
  LayerCache cache;
  cache.use = ByteUse::kIndexCache;
  cache.fixed_bytes = dim + 4;  // fp8 and a scale
  cache.stride = stride;
  Add(cache);
}

void ModelBuilder::AddLatent() {
  const int64_t heads = fields_.NeededWhole("num_attention_heads", kHeads);
  const int64_t q_rank = fields_.Whole("q_lora_rank", kFromZero).value_or(0);
  const int64_t kv_rank = fields_.NeededWhole("kv_lora_rank");
  const int64_t nope = fields_.NeededWhole("qk_nope_head_dim", kHeads);
  const int64_t rope = fields_.NeededWhole("qk_rope_head_dim", kHeads);
  const int64_t v = fields_.NeededWhole("v_head_dim", kHeads);
  const auto topk = fields_.Whole("index_topk");
  for (int64_t layer = 0; layer < model_->layers; ++layer) {
    if (q_rank > 0) {
      Add({ByteUse::kQAProj, q_rank, hidden_}, layer,
          {"self_attn.q_a_proj", "self_attn.fused_qkv_a_proj_with_mqa"});
      Add({ByteUse::kQBProj, heads * (nope + rope), q_rank, ShardBy::kOut,
           nope + rope},
          layer, {"self_attn.q_b_proj"});
    } else {
      Add({ByteUse::kQBProj, heads * (nope + rope), hidden_, ShardBy::kOut,
           nope + rope},
          layer, {"self_attn.q_proj"});
    }
    Add({ByteUse::kKvAProj, kv_rank + rope, hidden_}, layer,
        {"self_attn.kv_a_proj_with_mqa",
         "self_attn.fused_qkv_a_proj_with_mqa"});
    Add({ByteUse::kKvBProj, heads * (nope + v), kv_rank, ShardBy::kOut,
         nope + v},
        layer, {"self_attn.kv_b_proj"});
    Add({ByteUse::kOProj, hidden_, heads * v, ShardBy::kIn, v}, layer,
        {"self_attn.o_proj"});
    if (topk) AddIndexer(layer, q_rank > 0 ? q_rank : hidden_, 1);
    LayerCache cache;
    cache.numbers = kv_rank + rope;
    cache.most = topk.value_or(0);
    if (topk && kv_rank == 512 && rope == 64)
      cache.fp8_bytes = kSparseLatentBytes;
    Add(cache);
  }
}

void ModelBuilder::AddCompressed() {
  const int64_t heads = fields_.NeededWhole("num_attention_heads", kHeads);
  const int64_t dim = fields_.NeededWhole("head_dim", kHeads);
  const int64_t q_rank = fields_.NeededWhole("q_lora_rank");
  const int64_t o_rank = fields_.NeededWhole("o_lora_rank");
  const int64_t o_groups = fields_.NeededWhole("o_groups", kHeads);
  const int64_t window = fields_.NeededWhole("sliding_window");
  const int64_t streams = fields_.Whole("hc_mult", kHeads).value_or(0);
  const std::vector<int64_t> ratios =
      fields_.Wholes("compress_ratios", kFromZero);
  if (ratios.size() < static_cast<size_t>(model_->layers))
    fields_.Fail("compress_ratios names fewer layers than exist");
  constexpr int64_t kIndexedRatio = 4;
  for (int64_t layer = 0; layer < model_->layers; ++layer) {
    const int64_t ratio =
        std::max<int64_t>(ratios[static_cast<size_t>(layer)], 1);
    Add({ByteUse::kQAProj, q_rank, hidden_}, layer, {"self_attn.wq_a"});
    Add({ByteUse::kQBProj, heads * dim, q_rank, ShardBy::kOut, dim}, layer,
        {"self_attn.wq_b"});
    Add({ByteUse::kKvAProj, dim, hidden_}, layer, {"self_attn.wkv"});
    // Each group of heads goes to a latent of its own, all of them to hidden.
    Add({ByteUse::kOProj, o_groups * o_rank, heads * dim / o_groups,
         ShardBy::kOut, o_rank},
        layer, {"self_attn.wo_a"});
    Add({ByteUse::kOProj, hidden_, o_groups * o_rank, ShardBy::kIn, o_rank},
        layer, {"self_attn.wo_b"});
    if (streams > 0) {
      NumberFormat fp32 = *PlainFormat("float32");
      Add({ByteUse::kMhc, streams * (2 + streams), streams * hidden_,
           ShardBy::kWhole, 1, 2, false, fp32});
    }
    LayerCache recent;
    recent.numbers = dim;
    recent.fp8_bytes = kCompressedBytes;
    recent.most = window;
    Add(recent);
    if (ratio == 1) continue;
    // Overlapping windows take two widths. Compressors stay plain.
    const int64_t width = ratio == kIndexedRatio ? 2 : 1;
    Add({ByteUse::kCompressor, 2 * width * dim, hidden_}, layer, {});
    LayerCache old = recent;
    old.stride = ratio;
    old.most = 0;
    if (ratio == kIndexedRatio) {
      AddIndexer(layer, q_rank, ratio);
      Add({ByteUse::kCompressor,
           2 * width * fields_.NeededWhole("index_head_dim", kHeads), hidden_},
          layer, {});
      old.most = fields_.NeededWhole("index_topk");
    }
    Add(old);
  }
  model_->assumptions.push_back(
      "compressed attention is read as DeepSeek V4 has it: an index where the "
      "ratio is 4, compressors in plain numbers");
}

void ModelBuilder::AddDense(int64_t layer, int64_t intermediate) {
  for (const char* name : {"mlp.gate_proj", "mlp.up_proj"})
    Add({ByteUse::kGateUpProj, intermediate, hidden_, ShardBy::kOut}, layer,
        {name, "mlp.gate_up_proj"});
  Add({ByteUse::kDownProj, hidden_, intermediate, ShardBy::kIn}, layer,
      {"mlp.down_proj"});
}

/// Which layers have experts instead of a dense MLP.
std::vector<bool> ModelBuilder::ExpertLayers() const {
  const auto layers = static_cast<size_t>(model_->layers);
  std::vector<bool> routed(layers, true);
  const std::vector<std::string> types = fields_.Texts("mlp_layer_types");
  if (!types.empty() && types.size() < layers)
    fields_.Fail("mlp_layer_types names fewer layers than exist");
  const bool by_layer = fields_.IsArray("moe_layer_freq");
  const std::vector<int64_t> flags =
      by_layer ? fields_.Wholes("moe_layer_freq", {0, 1})
               : std::vector<int64_t>();
  if (by_layer && flags.size() < layers)
    fields_.Fail("moe_layer_freq names fewer layers than exist");
  const int64_t freq =
      by_layer ? 1 : fields_.Whole("moe_layer_freq").value_or(1);
  const int64_t first =
      fields_.Whole("first_k_dense_replace", kFromZero).value_or(0);
  const int64_t step = fields_.Whole("decoder_sparse_step").value_or(1);
  const std::vector<int64_t> dense =
      fields_.Wholes("mlp_only_layers", kFromZero);
  for (size_t i = 0; i < layers; ++i) {
    const auto layer = static_cast<int64_t>(i);
    routed[i] = layer >= first && layer % freq == 0 &&
                (layer + 1) % step == 0 &&
                std::find(dense.begin(), dense.end(), layer) == dense.end();
    if (by_layer) routed[i] = flags[i] == 1;
    if (!types.empty()) routed[i] = types[i] == "sparse";
  }
  return routed;
}

void ModelBuilder::AddExperts(int64_t layer) {
  const Experts& experts = model_->experts;
  const auto stated = fields_.Whole("moe_intermediate_size");
  const int64_t size =
      stated ? *stated : fields_.NeededWhole("intermediate_size");
  const bool fp4 = fields_.Text("expert_dtype") == "fp4";
  const auto expert = [&](WeightMatrix matrix,
                          std::initializer_list<const char*> names) {
    matrix.count = experts.count;
    matrix.routed = true;
    if (!fp4) return Add(std::move(matrix), layer, names);
    matrix.format = {"mxfp4", 4, 1, 32, 8};
    Add(std::move(matrix));
  };
  // The router's scores decide: no engine stores it in few bits.
  Add({ByteUse::kRouter, experts.count, hidden_}, layer, {});
  for (const char* name : {"mlp.experts.0.gate_proj", "mlp.experts.0.up_proj"})
    expert({ByteUse::kExpertGateUp, size, hidden_, ShardBy::kOut},
           {name, "mlp.experts.gate_up_proj", "block_sparse_moe.experts.0.w1"});
  expert({ByteUse::kExpertDown, hidden_, size, ShardBy::kIn},
         {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"});
  const int64_t several =
      fields_.WholeOf({"n_shared_experts", "num_shared_experts"}, kExpertRange)
          .value_or(0);
  const int64_t shared = fields_
                             .WholeOf({"shared_expert_intermediate_size",
                                       "shared_intermediate_size"},
                                      kFromZero)
                             .value_or(several * size);
  if (shared == 0) return;
  for (const char* name :
       {"mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj"})
    Add({ByteUse::kSharedExpert, shared, hidden_, ShardBy::kOut}, layer,
        {name, "mlp.shared_expert.gate_proj"});
  Add({ByteUse::kSharedExpert, hidden_, shared, ShardBy::kIn}, layer,
      {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj"});
}

void ModelBuilder::AddFeedForward() {
  Experts& experts = model_->experts;
  experts.count =
      fields_
          .WholeOf({"n_routed_experts", "num_experts", "num_local_experts"},
                   kExpertRange)
          .value_or(0);
  if (experts.count == 1) experts.count = 0;
  if (experts.count > 0) {
    const auto top = fields_.WholeOf(
        {"num_experts_per_tok", "num_experts_per_token", "experts_per_token"},
        {1, experts.count});
    if (!top) fields_.Fail("num_experts_per_tok is missing");
    experts.per_token = *top;
  }
  const std::vector<bool> routed = ExpertLayers();
  for (int64_t layer = 0; layer < model_->layers; ++layer) {
    if (experts.count > 0 && routed[static_cast<size_t>(layer)]) {
      ++experts.layers;
      AddExperts(layer);
    } else {
      AddDense(layer, fields_.NeededWhole("intermediate_size"));
    }
  }
}

void ModelBuilder::AddHead() {
  WeightMatrix head{ByteUse::kLmHead, fields_.NeededWhole("vocab_size"),
                    hidden_, ShardBy::kOut};
  // One with the embedding it has its numbers.
  const bool tied = fields_.Truth("tie_word_embeddings").value_or(false);
  head.format = tied ? formats_.plain() : formats_.OfHead();
  Add(std::move(head));
}

}  // namespace inferdiff
