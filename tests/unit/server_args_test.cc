// SPDX-License-Identifier: Apache-2.0
#include "readers/server_args.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace inferdiff {
namespace {

std::string Fact(const ServerFacts& result, const std::string& field) {
  for (const auto& [name, value] : result.facts)
    if (name == field) return value;
  return "?";
}

TEST(ServerArgs, TakesWhatTheSetUpTableNeeds) {
  const ServerFacts facts = ParseServerArgs(R"({
    "model_path": "/models/DeepSeek-R1-0528/", "api_key": "secret",
    "tp_size": 8, "ep_size": 1, "dp_size": 1, "pp_size": 1,
    "dtype": "auto", "quantization": null, "kv_cache_dtype": "fp8_e4m3",
    "attention_backend": "trtllm_mla", "disable_cuda_graph": false,
    "speculative_algorithm": null, "version": "0.5.8",
    "internal_states": [{"avg": NaN, "tp_size": 99}]})");
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(Fact(facts, "model"), "DeepSeek-R1-0528");
  EXPECT_EQ(Fact(facts, "framework"), "SGLang");
  EXPECT_EQ(Fact(facts, "framework version"), "0.5.8");
  EXPECT_EQ(Fact(facts, "tensor parallel"), "8");
  EXPECT_EQ(Fact(facts, "KV cache dtype"), "fp8_e4m3");
  EXPECT_EQ(Fact(facts, "CUDA graphs"), "enabled");
  EXPECT_EQ(Fact(facts, "speculative decoding"), "none");
  // The engine chose: not known, and not equal to another "auto".
  EXPECT_EQ(Fact(facts, "dtype"), "?");
  EXPECT_EQ(Fact(facts, "quantization"), "?");
  for (const auto& [field, value] : facts.facts) EXPECT_NE(value, "secret");
}

TEST(ServerArgs, NamesTheModelOfACache) {
  EXPECT_EQ(Fact(ParseServerArgs(
                     R"({"model_path": "/hf/models--deepseek-ai--R1/snapshots/)"
                     R"(0123abc"})"),
                 "model"),
            "R1");
  EXPECT_EQ(
      Fact(ParseServerArgs(R"({"model_path": "Qwen/Qwen3-8B"})"), "model"),
      "Qwen3-8B");
}

TEST(ServerArgs, DescribesSpeculation) {
  const ServerFacts facts = ParseServerArgs(
      R"({"model_path": "m", "speculative_algorithm": "EAGLE",)"
      R"( "speculative_num_steps": 3, "speculative_eagle_topk": 1,)"
      R"( "speculative_num_draft_tokens": 4})");
  EXPECT_EQ(Fact(facts, "speculative decoding"),
            "EAGLE, 3 steps, top 1, 4 draft tokens");
  EXPECT_EQ(
      Fact(ParseServerArgs(R"({"model_path": "m"})"), "speculative decoding"),
      "?");
}

TEST(ServerArgs, SaysWhyAFileGivesNothing) {
  for (const char* text : {"", "[1]", "null", "{}", "{\"tp_size\": 8}", "{\"a"})
    EXPECT_NE(ParseServerArgs(text).problem, "") << text;
  // Every cut of a good file: never a crash, never a fact that is not there.
  const std::string whole =
      R"({"model_path": "/m/Model", "tp_size": 8, "x": {"y": [1, "z"]}})";
  for (size_t size = 0; size < whole.size(); ++size) {
    const ServerFacts facts = ParseServerArgs(whole.substr(0, size));
    const std::string tp = Fact(facts, "tensor parallel");
    EXPECT_TRUE(tp == "8" || tp == "?") << size;
  }
}

TEST(ServerArgs, LooksBesideTheTrace) {
  const std::string folder = testing::TempDir() + "inferdiff_server_args/";
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(ReadServerArgsBeside(folder + "none.json").facts.empty());
  std::ofstream(folder + "server_args.json") << R"({"model_path": "m"})";
  EXPECT_EQ(Fact(ReadServerArgsBeside(folder + "t.json"), "model"), "m");
  std::ofstream(folder + "server_args.json") << "oops";
  EXPECT_NE(ReadServerArgsBeside(folder + "t.json").problem, "");
  std::filesystem::remove_all(folder);
}

TEST(ServerArgs, NumbersHoweverTheyAreWritten) {
  const struct {
    const char* text;
    const char* value;
  } kForms[] = {{"8", "8"},
                {"\"8\"", "8"},
                {"8.0", "8"},
                {"8e0", "8"},
                {"8.5", "?"},
                {"1e300", "?"},
                {"NaN", "?"},
                {"18446744073709551615", "?"},
                {"99999999999999999999999", "?"},
                {"[8]", "?"},
                {"{\"a\": 8}", "?"},
                {"null", "?"},
                {"4, \"tp_size\": 8", "8"}};
  for (const auto& [text, value] : kForms) {
    const ServerFacts facts = ParseServerArgs(
        std::string(R"({"model_path": "m", "tp_size": )") + text + "}");
    EXPECT_EQ(Fact(facts, "tensor parallel"), value) << text;
    EXPECT_EQ(Fact(facts, "model"), "m") << text;
  }
}

TEST(ServerArgs, HostileFilesAreBounded) {
  const auto deep = [](size_t depth, const std::string& open,
                       const std::string& close) {
    std::string text = R"({"x": )";
    for (size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < depth; ++i) text += close;
    return text + R"(, "model_path": "m", "tp_size": 8})";
  };
  EXPECT_EQ(Fact(ParseServerArgs(deep(300'000, "[", "]")), "model"), "m");
  EXPECT_EQ(Fact(ParseServerArgs(deep(300'000, "{\"a\":", "}")), "model"), "m");
  EXPECT_NE(ParseServerArgs(std::string(300'000, '[')).problem, "");
  EXPECT_EQ(ParseServerArgs("{\"model_path\": \"m\xff\"}").problem,
            "is not UTF-8 text");
  const std::string huge(100'000, 'v');
  EXPECT_EQ(Fact(ParseServerArgs(R"({"model_path": "m", "version": ")" + huge +
                                 "\"}"),
                 "framework version"),
            "?");
}

TEST(ServerArgs, WhatIsNoFileIsNamed) {
  namespace fs = std::filesystem;
  const std::string folder = testing::TempDir() + "inferdiff_no_file/";
  fs::remove_all(folder);
  fs::create_directories(folder + "server_args.json");
  EXPECT_NE(ReadServerArgsBeside(folder + "t.json").problem, "");
  fs::remove(folder + "server_args.json");
  fs::create_symlink("nowhere", folder + "server_args.json");
  EXPECT_NE(ReadServerArgsBeside(folder + "t.json").problem, "");
  fs::remove(folder + "server_args.json");
  fs::create_symlink("/dev/zero", folder + "server_args.json");
  EXPECT_NE(ReadServerArgsBeside(folder + "t.json").problem, "");
  fs::remove(folder + "server_args.json");
  std::ofstream(folder + "server_args.json") << std::string(9 << 20, ' ');
  EXPECT_NE(ReadServerArgsBeside(folder + "t.json").problem.find("8 MiB"),
            std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace inferdiff
