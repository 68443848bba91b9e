// SPDX-License-Identifier: Apache-2.0
// Bytes of known models, counted by hand.
#include "compare/model_config.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "compare/byte_floor.h"
#include "compare/devices.h"
#include "compare/machine.h"
#include "compare/module_names.h"
#include "compare/probe_result.h"

namespace inferdiff {
namespace {

int64_t BytesFor(const ByteFloor& floor, ByteUse use) {
  return floor.bytes[static_cast<size_t>(use)];
}

ByteFloor Count(const std::string& config, const StepWork& work) {
  return CountBytes(ParseModelConfig(config, "config.json"), work);
}

StepWork Decode(int64_t batch, int64_t context, int64_t ranks = 1) {
  StepWork work;
  work.batch = work.tokens = batch;
  work.context = context;
  work.tensor_parallel = ranks;
  return work;
}

// 8.03e9 weights, of which 128256 x 4096 are the embedding, which no step
// reads as a whole, and 65 x 4096 norms.
constexpr const char* kLlama8b = R"({
  "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
  "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "vocab_size": 128256,
  "torch_dtype": "bfloat16"})";

TEST(ByteFloor, CountsADenseModel) {
  const ByteFloor floor = Count(kLlama8b, Decode(16, 8209));
  EXPECT_EQ(floor.weights, 2 * (8030261248 - 128256 * 4096 - 65 * 4096));
  EXPECT_EQ(floor.cache, int64_t{8209} * 32 * 2 * 8 * 128 * 2);
  EXPECT_EQ(BytesFor(floor, ByteUse::kQkvProj),
            int64_t{32} * 2 * 4096 * (4096 + 2 * 1024));
  EXPECT_EQ(BytesFor(floor, ByteUse::kDownProj),
            int64_t{32} * 2 * 4096 * 14336);
}

TEST(ByteFloor, DealsHeadsAndColumnsOut) {
  const ByteFloor whole = Count(kLlama8b, Decode(1, 1000));
  const ByteFloor eighth = Count(kLlama8b, Decode(1, 1000, 8));
  EXPECT_EQ(eighth.weights * 8, whole.weights);
  EXPECT_EQ(eighth.cache * 8, whole.cache);
  // Fewer key heads than ranks: each rank has one, whole.
  const ByteFloor sixteenth = Count(kLlama8b, Decode(1, 1000, 16));
  EXPECT_EQ(sixteenth.cache, eighth.cache);
  EXPECT_EQ(BytesFor(sixteenth, ByteUse::kQkvProj),
            int64_t{32} * 2 * 4096 * (256 + 2 * 128));
}

constexpr const char* kDeepSeekV3 = R"({
  "model_type": "deepseek_v3", "hidden_size": 7168,
  "intermediate_size": 18432, "moe_intermediate_size": 2048,
  "num_hidden_layers": 61, "num_attention_heads": 128,
  "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
  "first_k_dense_replace": 3, "moe_layer_freq": 1, "vocab_size": 129280,
  "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16",
  "quantization_config": {"quant_method": "fp8", "fmt": "e4m3",
    "activation_scheme": "dynamic", "weight_block_size": [128, 128]}})";

TEST(ByteFloor, CountsALatentModelWithExpertsInBlocks) {
  const ByteFloor floor = Count(kDeepSeekV3, Decode(1, 4096));
  // Numbers and a scale of 4 bytes a block of 128 x 128.
  EXPECT_EQ(BytesFor(floor, ByteUse::kQAProj),
            int64_t{61} * (1536 * 7168 + 12 * 56 * 4));
  EXPECT_EQ(BytesFor(floor, ByteUse::kKvAProj),
            int64_t{61} * (576 * 7168 + 5 * 56 * 4));
  EXPECT_EQ(BytesFor(floor, ByteUse::kQBProj),
            int64_t{61} * (24576 * 1536 + 192 * 12 * 4));
  EXPECT_EQ(BytesFor(floor, ByteUse::kKvBProj),
            int64_t{61} * (32768 * 512 + 256 * 4 * 4));
  EXPECT_EQ(BytesFor(floor, ByteUse::kOProj),
            int64_t{61} * (7168 * 16384 + 56 * 128 * 4));
  EXPECT_EQ(BytesFor(floor, ByteUse::kGateUpProj),
            int64_t{3} * 2 * (18432 * 7168 + 144 * 56 * 4));
  EXPECT_EQ(BytesFor(floor, ByteUse::kRouter), int64_t{58} * 256 * 7168 * 2);
  // One token reads its eight experts.
  const int64_t matrix = 2048 * 7168 + 16 * 56 * 4;
  EXPECT_EQ(BytesFor(floor, ByteUse::kExpertGateUp), 58 * 8 * 2 * matrix);
  EXPECT_EQ(BytesFor(floor, ByteUse::kExpertDown), 58 * 8 * matrix);
  EXPECT_EQ(BytesFor(floor, ByteUse::kSharedExpert), 58 * 3 * matrix);
  EXPECT_EQ(BytesFor(floor, ByteUse::kLmHead), int64_t{129280} * 7168 * 2);
  // One latent for all heads; every rank has it whole.
  EXPECT_EQ(floor.cache, int64_t{4096} * 61 * 576 * 2);
  EXPECT_EQ(Count(kDeepSeekV3, Decode(1, 4096, 8)).cache, floor.cache);
  // A very large batch reads all 256: 671e9 weights less the embedding.
  const ByteFloor all = Count(kDeepSeekV3, Decode(1 << 20, 0));
  EXPECT_EQ(BytesFor(all, ByteUse::kExpertDown), 58 * 256 * matrix);
  EXPECT_NEAR(static_cast<double>(all.weights), 671e9, 2e9);
}

TEST(ByteFloor, CountsAWindowedModelInMicroscaling) {
  const ByteFloor floor = Count(
      R"({"model_type": "gpt_oss", "hidden_size": 2880,
          "intermediate_size": 2880, "num_hidden_layers": 24,
          "num_attention_heads": 64, "num_key_value_heads": 8,
          "head_dim": 64, "num_local_experts": 32, "experts_per_token": 4,
          "vocab_size": 201088, "dtype": "bfloat16", "sliding_window": 128,
          "layer_types": ["sliding_attention", "full_attention",
            "sliding_attention", "full_attention", "sliding_attention",
            "full_attention", "sliding_attention", "full_attention",
            "sliding_attention", "full_attention", "sliding_attention",
            "full_attention", "sliding_attention", "full_attention",
            "sliding_attention", "full_attention", "sliding_attention",
            "full_attention", "sliding_attention", "full_attention",
            "sliding_attention", "full_attention", "sliding_attention",
            "full_attention"],
          "quantization_config": {"quant_method": "mxfp4",
            "modules_to_not_convert": ["model.layers.*.self_attn",
              "model.layers.*.mlp.router", "model.embed_tokens",
              "lm_head"]}})",
      Decode(2, 2000));
  // Half a byte a number and a byte a row of 32; 2 tokens read 7.5 of 32.
  const int64_t matrix = 2880 * 2880 / 2 + 2880 * 90;
  EXPECT_EQ(BytesFor(floor, ByteUse::kExpertDown), 24 * matrix * 15 / 2);
  EXPECT_EQ(BytesFor(floor, ByteUse::kOProj), int64_t{24} * 2880 * 4096 * 2);
  // 12 layers read 2000 tokens, 12 the last 128 of each of 2 sequences.
  EXPECT_EQ(floor.cache, int64_t{12} * (2000 + 256) * 8 * 128 * 2);
}

TEST(ByteFloor, CountsCompressedAttention) {
  const ByteFloor floor = Count(
      R"({"model_type": "deepseek_v4", "hidden_size": 4096,
          "num_hidden_layers": 3, "num_attention_heads": 64,
          "num_key_value_heads": 1, "head_dim": 512, "qk_rope_head_dim": 64,
          "q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8,
          "sliding_window": 128, "compress_ratios": [0, 4, 128, 0],
          "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512,
          "hc_mult": 4, "n_routed_experts": 256, "num_experts_per_tok": 6,
          "n_shared_experts": 1, "moe_intermediate_size": 2048,
          "vocab_size": 129280, "torch_dtype": "bfloat16",
          "expert_dtype": "fp4",
          "quantization_config": {"quant_method": "fp8",
            "weight_block_size": [128, 128]}})",
      [] {
        StepWork work = Decode(1, 65536);
        work.cache_dtype = "fp8_e4m3";
        return work;
      }());
  // 128 recent tokens a layer, 512 of 16384 chosen, 512 of the last kind.
  EXPECT_EQ(BytesFor(floor, ByteUse::kKvCache), (3 * 128 + 512 + 512) * 584);
  EXPECT_EQ(BytesFor(floor, ByteUse::kIndexCache), 65536 / 4 * 132);
  EXPECT_EQ(BytesFor(floor, ByteUse::kExpertDown),
            3 * 6 * (4096 * 2048 / 2 + 4096 * 2048 / 32));
  EXPECT_EQ(BytesFor(floor, ByteUse::kMhc), 3 * 2 * 24 * 4 * 4096 * 4);
}

TEST(ByteFloor, LeavesOutWhatIsNotKnown) {
  EXPECT_NE(Count(kDeepSeekV3, {}).not_known, "");
  const ByteFloor floor = Count(kLlama8b, {});
  EXPECT_EQ(floor.not_known, "");
  EXPECT_EQ(floor.cache, 0);
  EXPECT_GT(floor.weights, 0);
}

TEST(DistinctExperts, IsTheExpectation) {
  EXPECT_EQ(DistinctExperts(256, 8, 0).num, 0);
  EXPECT_EQ(DistinctExperts(256, 8, 1).num, 8'000'000);
  EXPECT_EQ(DistinctExperts(256, 8, 2).num, 15'750'000);
  EXPECT_EQ(DistinctExperts(8, 2, 3).num, 4'625'000);  // 8 (1 - 27/64)
  EXPECT_EQ(DistinctExperts(8, 8, 1).num, 8'000'000);
  EXPECT_EQ(DistinctExperts(256, 8, int64_t{1} << 40).num, 256'000'000);
}

NumberFormat FormatOf(const std::string& quantization,
                      const std::string& module) {
  const ConfigFields fields =
      ConfigFields::Parse(quantization, "config.json", "a config");
  return WeightFormats(*PlainFormat("bfloat16"), fields).Of({module});
}

TEST(WeightFormats, KnowsTheMethods) {
  const std::string q = "model.layers.7.self_attn.q_proj";
  EXPECT_EQ(BytesOf(FormatOf(R"({"quant_method": "awq", "bits": 4,
                                 "group_size": 128, "zero_point": true})",
                             q),
                    256, 256),
            256 * 256 / 2 + 512 * 20 / 8);
  EXPECT_EQ(BytesOf(FormatOf(R"({"quant_method": "gptq", "bits": 4,
                                 "group_size": -1, "sym": true})",
                             q),
                    256, 256),
            256 * 256 / 2 + 256 * 2);
  const std::string groups =
      R"({"quant_method": "compressed-tensors", "ignore": ["lm_head",
          "re:.*layers\\.[0-3]\\..*"], "config_groups": {"group_0": {
          "targets": ["Linear"], "weights": {"num_bits": 4, "type": "float",
          "strategy": "tensor_group", "group_size": 16}}, "group_1": {
          "targets": ["re:.*down_proj"], "weights": {"num_bits": 8,
          "type": "int", "strategy": "channel"}}}})";
  EXPECT_EQ(FormatOf(groups, q).name, "nvfp4");
  EXPECT_EQ(FormatOf(groups, "model.layers.3.self_attn.q_proj").name, "bf16");
  EXPECT_EQ(FormatOf(groups, "model.layers.7.mlp.down_proj").name, "int8");
  EXPECT_EQ(FormatOf(groups, "lm_head").name, "bf16");
  EXPECT_EQ(FormatOf(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
                         "exclude_modules": ["*self_attn*"]})",
                     q)
                .name,
            "bf16");
  EXPECT_EQ(FormatOf(R"({"quant_method": "quark", "global_quant_config": {
                         "weight": {"dtype": "fp4", "group_size": 32}},
                         "layer_quant_config": {"*q_proj": {"weight":
                         {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}}}})",
                     q)
                .name,
            "fp8");
}

TEST(ModuleNames, MatchesWholeParts) {
  ModuleNames names;
  for (const char* entry : {"lm_head", "mlp.gate", "model.layers.1.self_attn",
                            "model.language_model.layers.2.mlp*"})
    EXPECT_TRUE(names.Add(entry));
  ASSERT_TRUE(names.Prepare());
  EXPECT_TRUE(names.Has("lm_head"));
  EXPECT_TRUE(names.Has("model.layers.4.mlp.gate"));
  EXPECT_FALSE(names.Has("model.layers.4.mlp.gate_proj"));
  EXPECT_TRUE(names.Has("model.layers.1.self_attn.q_proj"));
  EXPECT_FALSE(names.Has("model.layers.11.self_attn.q_proj"));
  EXPECT_TRUE(names.Has("model.layers.2.mlp.down_proj"));
}

TEST(DeviceTable, TakesTheLongestNameThatFits) {
  const DeviceTable& devices = ShippedDevices();
  EXPECT_EQ(devices.Of("NVIDIA H200").bytes_per_s, 4'800'000'000'000);
  EXPECT_EQ(devices.Of("NVIDIA H20").bytes_per_s, 4'000'000'000'000);
  EXPECT_EQ(devices.Of("NVIDIA B300 SXM6 AC").bytes_per_s, 8'000'000'000'000);
  EXPECT_EQ(devices.Of("AMD Instinct MI300X VF").source, "datasheet");
  EXPECT_EQ(devices.Of("NVIDIA H100").bytes_per_s, 0);
  EXPECT_EQ(devices.Of("NVIDIA H200 MIG 1g.18gb").bytes_per_s, 0);
  EXPECT_EQ(devices.Of("").bytes_per_s, 0);
}

TEST(ReadTime, IsRoundedToThePicosecond) {
  EXPECT_EQ(ReadTime(3, 2'000'000'000'000).num, 2);  // 1.5 ps
  EXPECT_EQ(ReadTime(4'800'000'000'000, 4'800'000'000'000).num,
            1'000'000'000'000);
  EXPECT_THROW(ReadTime(int64_t{1} << 60, 1'000'000'000), InputError);
}

TEST(ParseModelConfig, RefusesWhatWouldOverflow) {
  std::string config = kDeepSeekV3;
  for (const char* field : {"\"hidden_size\": 7168", "\"v_head_dim\": 128"}) {
    const size_t at = config.find(field);
    const size_t number = config.find(": ", at) + 2;
    config.replace(number, config.find(',', at) - number, "65535");
  }
  EXPECT_GT(Count(config, Decode(1, 1)).weights, 0);
  EXPECT_THROW(Count(kLlama8b, Decode(1, int64_t{1} << 50)), InputError);
}

}  // namespace
}  // namespace inferdiff
