// SPDX-License-Identifier: Apache-2.0
#include "ledger/framework_hint.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace inferdiff {
namespace {

FrameworkHint Of(const std::string& kernel, const std::string& marker) {
  TraceBuilder builder;
  builder.Eager(kernel, 10, 20, 5);
  if (!marker.empty()) builder.Mark(marker, 5, 30);
  return HintOf(builder.Build());
}

TEST(FrameworkHint, OwnKernelsProveIt) {
  const FrameworkHint hint = Of("sglang::cross_device_reduce_1stage", "");
  EXPECT_EQ(hint.name, "SGLang");
  EXPECT_EQ(hint.basis, HintBasis::kKernels);
  EXPECT_EQ(Of("void vllm::act_and_mul_kernel<>()", "").name, "vLLM");
}

TEST(FrameworkHint, MarkersShowTheirFormOnly) {
  const FrameworkHint hint = Of("gemm", "step[DECODE bs=4]");
  EXPECT_EQ(hint.name, "SGLang");
  EXPECT_EQ(hint.basis, HintBasis::kMarkerForm);
}

TEST(FrameworkHint, BorrowedKernelsProveNothing) {
  const FrameworkHint hint = Of("vllm::rms_norm", "step[DECODE bs=4]");
  EXPECT_EQ(hint.name, "SGLang");
  EXPECT_EQ(hint.basis, HintBasis::kMarkerForm);
}

TEST(FrameworkHint, APatchedMarkerIsStillItsEngines) {
  const std::string marker =
      "execute_16_context_0(sq0sk0sqsq0sqsk0)_generation_16(sq16sk8209sqsq16"
      "sqsk8209)";
  EXPECT_EQ(Of("gemm", marker).name, "vLLM");
}

TEST(FrameworkHint, NothingTells) {
  EXPECT_EQ(Of("gemm", "ProfilerStep#3").name, "");
  EXPECT_EQ(Of("gemm", "").basis, HintBasis::kNothing);
}

}  // namespace
}  // namespace inferdiff
