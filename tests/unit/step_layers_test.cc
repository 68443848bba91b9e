// SPDX-License-Identifier: Apache-2.0
// Layers and roles of a step: from the trace, from its ledger and from a
// ledger that was packed and unpacked, all the same.
#include "ledger/step_layers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ledger/packed_rank.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

const RuleSet& Rules() {
  static const RuleSet rules = RuleSet::Load();
  return rules;
}

/// Decode steps of three dense layers, of walls that differ; the last has
/// none.
Trace ThreeLayers(const std::vector<int64_t>& walls) {
  const std::vector<std::string> layer = {
      "rms_norm_kernel",
      "nvjet_tst_64x64",
      "rotary_embedding_kernel",
      "store_kvcache",
      "flash_fwd_kernel",
      "nvjet_tst_128x64",
      "rms_norm_kernel",
      "nvjet_tst_256x64",
      "void vllm::act_and_mul_kernel<int>(int)",
      "nvjet_tst_64x128"};
  TraceBuilder builder;
  int64_t at = 0;
  for (size_t step = 0; step <= walls.size(); ++step) {
    builder.Mark("step[DECODE bs=4]", at - 5, 900);
    int64_t start = at;
    const auto run = [&](const std::string& name) {
      builder.Eager(name, start - 4, start, 15);
      start += 20;
    };
    for (int i = 0; i < 3; ++i)
      for (const std::string& name : layer) run(name);
    run("rms_norm_kernel");
    run("nvjet_tst_512x64");
    at += step < walls.size() ? walls[step] : 0;
  }
  return builder.Build();
}

LedgerResult LedgerOf(const Trace& trace, const Classification& classes,
                      const Steps& steps) {
  LedgerOptions options;
  options.keep_samples = true;
  LedgerResult ledger = BuildLedger(trace, classes, Rules(), steps, options);
  FillLayers(&ledger);
  return ledger;
}

std::vector<std::string_view> RolesOf(const StepLayers& step) {
  std::vector<std::string_view> out;
  for (const PlacedOp& op : step.ops) out.push_back(IdOf(op.role.role));
  return out;
}

void ExpectEqual(const StepLayers& a, const StepLayers& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.layers.evidence, b.layers.evidence);
  EXPECT_EQ(a.layers.how, b.layers.how);
  EXPECT_EQ(a.layers.layer_of_op, b.layers.layer_of_op);
  EXPECT_EQ(a.layers.slot_of_op, b.layers.slot_of_op);
  EXPECT_EQ(RolesOf(a), RolesOf(b));
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (size_t i = 0; i < a.ops.size(); ++i) {
    EXPECT_EQ(a.ops[i].ordinal, b.ops[i].ordinal);
    EXPECT_EQ(a.ops[i].attributed_ns, b.ops[i].attributed_ns);
    EXPECT_EQ(a.ops[i].position, b.ops[i].position);
    EXPECT_EQ(a.ops[i].layer, b.ops[i].layer);
    EXPECT_EQ(a.ops[i].slot, b.ops[i].slot);
    EXPECT_EQ(a.ops[i].role.rule, b.ops[i].role.rule);
  }
  ASSERT_EQ(a.roles.size(), b.roles.size());
  for (size_t i = 0; i < a.roles.size(); ++i)
    EXPECT_EQ(a.roles[i].attributed_ns, b.roles[i].attributed_ns);
}

TEST(StepLayers, TraceLedgerAndUnpackedLedgerAgree) {
  const Trace trace = ThreeLayers({1000, 1300, 1100, 1200, 900});
  const Classification classes = Classify(trace, Rules());
  const Steps steps = FindSteps(trace, classes);
  const LedgerResult ledger = LedgerOf(trace, classes, steps);
  ASSERT_EQ(ledger.layers.layers.layers.size(), 3u);
  const StepLayers of_trace =
      LayersOfStep(trace, classes, Rules(), steps, ledger.representative_step);
  ExpectEqual(of_trace, ledger.layers);

  LedgerResult back = Unpack(Pack(ledger));
  EXPECT_TRUE(back.layers.ops.empty());
  FillLayers(&back);
  ExpectEqual(back.layers, ledger.layers);
}

TEST(StepLayers, RolesOfADenseLayer) {
  const Trace trace = ThreeLayers({1000, 1000});
  const Classification classes = Classify(trace, Rules());
  const Steps steps = FindSteps(trace, classes);
  const StepLayers step = LayersOfStep(trace, classes, Rules(), steps, 0);
  const std::vector<std::string_view> roles = RolesOf(step);
  const std::vector<std::string_view> layer = {"input_norm",
                                               "qkv_proj",
                                               "rope",
                                               "kv_write",
                                               "attention",
                                               "o_proj",
                                               "post_attention_norm",
                                               "gate_up_proj",
                                               "activation",
                                               "down_proj"};
  ASSERT_EQ(roles.size(), 32u);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(roles[i], layer[i % 10]) << i;
  EXPECT_EQ(roles[30], "final_norm");
  EXPECT_EQ(roles[31], "lm_head");
  ASSERT_EQ(step.roles.size(), 12u);
  EXPECT_EQ(step.roles[1].layers, 3);
  EXPECT_EQ(step.roles[1].ops, 3);
  EXPECT_EQ(step.roles[1].attributed_ns, 45000);
  EXPECT_TRUE(step.roles[1].in_layers);
  EXPECT_FALSE(step.roles[11].in_layers);
}

/// Two ways to the step of median wall, or span where no wall is known.
TEST(StepLayers, TheRepresentativeStepIsTheLedgers) {
  const std::vector<std::vector<int64_t>> walls = {
      {},
      {1000},
      {1000, 900},
      {1000, 1000, 1000},
      {1300, 900, 1000, 1100},
      {1100, 1300, 1200, 1000, 900}};
  std::vector<uint32_t> representative;
  for (const std::vector<int64_t>& some : walls) {
    const Trace trace = ThreeLayers(some);
    const Classification classes = Classify(trace, Rules());
    const Steps steps = FindSteps(trace, classes);
    const LedgerResult ledger = LedgerOf(trace, classes, steps);
    ASSERT_GT(ledger.used_steps, 0);
    EXPECT_EQ(RepresentativeStep(trace, steps, steps.main_group),
              ledger.representative_step)
        << some.size() << " walls";
    representative.push_back(ledger.representative_step);
  }
  EXPECT_NE(representative.back(), 0u);  // not just the first
}

}  // namespace
}  // namespace inferdiff
