// SPDX-License-Identifier: Apache-2.0
// Steps from the kernel sequence alone: the step, not the layer.
#include "steps/kernel_steps.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace inferdiff {
namespace {

/// Eager passes on a GPU-only trace.
class Passes {
 public:
  void Kernel(const std::string& name, int64_t pause_us = 1) {
    builder.Op(name, at_us_ += pause_us, 10);
    at_us_ += 10;
  }
  void Layer(int index) {
    Kernel("norm");
    Kernel("qkv_gemm");
    Kernel(index % 2 == 0 ? "attention" : "window_attention");
    Kernel("out_gemm");
    Kernel("norm");
    Kernel("mlp_gemm");
    Kernel("act");
    Kernel("mlp_gemm2");
  }
  void Pass(int layers, const std::string& last) {
    Kernel("embedding", 100);
    Kernel("positions");
    for (int l = 0; l < layers; ++l) Layer(l);
    Kernel("final_norm");
    Kernel("lm_head");
    Kernel(last);
  }
  Steps Find() const {
    const Trace trace = builder.Build();
    return FindSteps(trace, ClassesByWord(trace));
  }
  TraceBuilder builder;

 private:
  int64_t at_us_ = 0;
};

TEST(KernelSteps, TheStepIsFoundNotTheLayer) {
  for (const char* last : {"sample", "argmax of no known name"}) {
    Passes p;
    for (int i = 0; i < 6; ++i) p.Pass(24, last);
    const Steps s = p.Find();
    EXPECT_EQ(s.evidence, Evidence::kKernelPeriod) << last;
    ASSERT_EQ(s.steps.size(), 6U) << last;
    for (const Step& step : s.steps) EXPECT_EQ(step.ops, 24 * 8 + 5U);
  }
}

TEST(KernelSteps, OnePassIsOneStep) {
  for (const char* last : {"sample", "argmax of no known name"}) {
    Passes p;
    p.Pass(24, last);
    const Steps s = p.Find();
    EXPECT_EQ(s.evidence, Evidence::kWholeTrace) << last << s.how;
    ASSERT_EQ(s.steps.size(), 1U) << last;
    EXPECT_EQ(s.steps[0].excluded_id, "");
  }
}

TEST(KernelSteps, CutEndsAreNamed) {
  Passes p;
  for (int l = 0; l < 7; ++l) p.Layer(l);
  p.Kernel("final_norm");
  p.Kernel("lm_head");
  p.Kernel("sample");
  for (int i = 0; i < 5; ++i) p.Pass(24, "sample");
  p.Kernel("embedding", 100);
  p.Kernel("positions");
  for (int l = 0; l < 5; ++l) p.Layer(l);
  const Steps s = p.Find();
  ASSERT_EQ(s.steps.size(), 7U) << s.how;
  EXPECT_EQ(s.steps.front().excluded_id, "incomplete-step");
  EXPECT_EQ(s.steps.back().excluded_id, "incomplete-step");
  for (size_t k = 1; k < 6; ++k) {
    EXPECT_EQ(s.steps[k].ops, 24 * 8 + 5U) << k;
    EXPECT_EQ(s.steps[k].excluded_id, "") << k;
  }
}

TEST(KernelSteps, AnExtraKernelNowAndThenMovesNoOtherBorder) {
  Passes p;
  for (int i = 0; i < 12; ++i) {
    if (i % 5 == 3) p.Kernel("evict", 100);
    p.Pass(12, "sample");
  }
  const Steps s = p.Find();
  ASSERT_EQ(s.steps.size(), 12U);
  for (const Step& step : s.steps) {
    EXPECT_GE(step.ops, 12 * 8 + 5U);
    EXPECT_LE(step.ops, 12 * 8 + 6U);
  }
}

TEST(KernelSteps, NothingThatRepeatsIsOneStep) {
  TraceBuilder b;
  for (int i = 0; i < 50; ++i) b.Op(Numbered("k", i), 10 * i, 5);
  const Trace trace = b.Build();
  const Steps s = FindSteps(trace, ClassesByWord(trace));
  EXPECT_EQ(s.evidence, Evidence::kWholeTrace);
  EXPECT_EQ(s.steps[0].ops, 50U);
}

// A training pass: the forward half repeats a layer, the backward half others.
TEST(KernelSteps, LayersOfHalfATraceAreNoSteps) {
  Passes p;
  p.Kernel("embedding");
  for (int l = 0; l < 20; ++l) p.Layer(l);
  for (int l = 0; l < 20; ++l) {
    p.Kernel("grad_a");
    p.Kernel("grad_b");
    p.Kernel("grad_c");
  }
  EXPECT_EQ(p.Find().steps.size(), 1U);
}

}  // namespace
}  // namespace inferdiff
