// SPDX-License-Identifier: Apache-2.0
#include "classify/kernel_name.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "classify/classify.h"
#include "classify/demangle.h"

namespace inferdiff {
namespace {

TEST(DisplayName, DropsReturnTypeAndSuffixes) {
  EXPECT_EQ(DisplayName("void f<int>(int)"), "f<int>(int)");
  EXPECT_EQ(DisplayName("static void f(int) [clone .kd]"), "f(int)");
  EXPECT_EQ(DisplayName("attn_fwd.kd"), "attn_fwd");
  EXPECT_EQ(DisplayName("void (anonymous namespace)::f<1>(int)"),
            "(anonymous namespace)::f<1>(int)");
  EXPECT_EQ(DisplayName("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::"
                        "BFloat16>::exists, void>::type vllm::norm<8>(int)"),
            "vllm::norm<8>(int)");
}

TEST(DisplayName, KeepsWhatIsNoFunction) {
  EXPECT_EQ(DisplayName("Memcpy DtoD (Device -> Device)"),
            "Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(DisplayName("nvjet_tst_64x8"), "nvjet_tst_64x8");
  EXPECT_EQ(DisplayName(""), "");
}

TEST(DisplayName, IsAtMostFourKilobytes) {
  EXPECT_EQ(DisplayName(std::string(100000, 'x')).size(), 4096U);
  EXPECT_EQ(DisplayName("void f<" + std::string(100000, '<')).size(), 4096U);
}

TEST(WordsOf, SplitsAtSignsAndCapitals) {
  EXPECT_EQ(WordsOf("ns::QKNormFP8Kernel2"), "_ns_qk_norm_fp8_kernel2_");
  EXPECT_EQ(WordsOf("_topK_stage1<Fp16Int8>"), "_top_k_stage1_fp16_int8_");
  EXPECT_EQ(WordsOf("KV__CACHE"), "_kv_cache_");
  EXPECT_EQ(WordsOf(""), "_");
}

TEST(Demangle, ReadsNamesAndTemplateArguments) {
  EXPECT_EQ(Demangle("_Z1fv"), "f");
  EXPECT_EQ(Demangle("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16E"
                     "Lb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib"),
            "aiter::add_rmsnorm_quant_kernel<__bf16, __bf16, 256, 16, true, "
            "false, true, 1>");
  EXPECT_EQ(
      Demangle("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_"
               "bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i"),
      "sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, "
      "&silu<__hip_bfloat16>>");
  EXPECT_EQ(Demangle("_ZN12_GLOBAL__N_14copyIfEEvPT_"),
            "(anonymous namespace)::copy<float>");
  // S_ is ns, S0_ is ns::B, S1_ is ns::B<int>, which the argument repeats.
  EXPECT_EQ(Demangle("_ZN2ns1fINS_1BIiEES2_EEvT_"),
            "ns::f<ns::B<int>, ns::B<int>>");
  EXPECT_EQ(Demangle("_Z1fIPKcN2ab1cEEvv"), "f<char const*, ab::c>");
}

TEST(Demangle, GivesTheIdentifiersOfWhatItCannotRead) {
  EXPECT_EQ(Demangle("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsno"),
            "ck_tile::kentry<Rmsnorm2dFwd, Rmsno>");
  EXPECT_EQ(Demangle("not mangled"), std::nullopt);
  EXPECT_EQ(Demangle("_Z"), std::nullopt);
}

TEST(Demangle, IsBoundedOnHostileNames) {
  const auto start = std::chrono::steady_clock::now();
  // Each argument doubles the one before: 2^60 characters if written out.
  std::string doubling = "_Z1f1AIiiE";
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t i = 0; i < 36; ++i) {
    const std::string s = std::string("S") + digits[i] + "_";
    doubling += "S_I" + s + s + "E";
  }
  std::string deep = "_Z1fI";
  std::string numbers = "_ZN";
  for (int i = 0; i < 20000; ++i) {
    deep += "P";
    numbers += "9999";
  }
  std::string nested = "_Z";
  for (int i = 0; i < 20000; ++i) nested += "1AI";
  for (const std::string& name :
       {doubling, deep, numbers, nested, "_Z" + std::string(20000, 'N'),
        "_Z1fIJ" + std::string(20000, 'J'),
        "_Z1fILi" + std::string(9999, '1')}) {
    EXPECT_LE(DisplayName(name).size(), 4096U);
  }
  const auto taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken, std::chrono::seconds(2));
}

struct FamilyCase {
  const char* name;
  const char* family;
};

TEST(Family, FoldsWhatVaries) {
  const FamilyCase cases[] = {
      {"gemm_Bfloat16_E4m3E4m3_Fp32_t128x16x128u2_s6_et64x16_sm100f",
       "gemm_Bfloat16_E4m3E4m3_*_t128x16x128"},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_swiGlu_dynBatch_sm100f",
       "bmm_MxE4m3_MxE2m1MxE4m3_*_t128x16x256"},
      {"fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_ps_32x384",
       "fmoe_bf16_blockscaleFp8_g1u1_vs_silu_*"},
      {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "nvjet_tst_*"},
      {"nvjet_sm103_tst_256x16_64x6_4x1_v_bz_TNT", "nvjet_sm103_tst_*"},
      {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x16x256_MI16x16x1_SN",
       "Cijk_Alik_Bljk_BBS_*_MT64x16x256"},
      {"triton_poi_fused__to_copy_1", "triton_poi_fused__to_copy_*"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu",
       "_matmul_ogs_NNT_bf16xbf16xmxfp4_*_swiglu"},
      {"_gemm_a8w8_blockscale_kernel_GROUP_K_128_BLOCK_SIZE_M_16_1",
       "_gemm_a8w8_blockscale_kernel_*"},
      {"kernel_cutlass_fused_add_rmsnorm_object_at__tensorptrbf16gmem_0",
       "kernel_cutlass_fused_add_rmsnorm_*"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_execute",
       "sm90_xmma_gemm_bf16bf16_bf16f32_f32_*_execute"},
      {"aiter::mla_a8w8_qh16_qseqlen1_gqaratio16_ps",
       "aiter::mla_a8w8_qh16_qseqlen1_gqaratio16_ps"},
      {"cross_device_reduce_1stage<bf16, 8>(int)",
       "cross_device_reduce_1stage<*>"},
      {"memcpy32_post", "memcpy32_post"},
      {"Memset (Device)", "Memset (Device)"},
      {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"},
  };
  for (const FamilyCase& c : cases) EXPECT_EQ(Family(c.name), c.family);
}

TEST(Family, KeepsWhatSaysWhatTheKernelDoes) {
  const FamilyCase cases[] = {
      {"at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<"
       "float, float, float, at::native::binary_internal::MulFunctor<float> > "
       ">",
       "at::native::vectorized_elementwise_kernel<*MulFunctor*>"},
      {"at::native::(anonymous namespace)::CatArrayBatchedCopy<int, 4>(int)",
       "at::native::CatArrayBatchedCopy<*>"},
      {"ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<int>, int>",
       "ck_tile::kentry<*Rmsnorm2dFwd*>"},
      {"deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, (deep_gemm::GemmType)2, float>",
       "deep_gemm::sm90_fp8_gemm_1d2d_impl<*GemmType)2*>"},
      {"rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<int>",
       "rocprim::ROCPRIM_*_NS::detail::trampoline_kernel<*>"},
  };
  for (const FamilyCase& c : cases) EXPECT_EQ(Family(c.name), c.family);
}

TEST(ClassifyName, GivesMangledAndDemangledFormsOneCategory) {
  const RuleSet rules = RuleSet::Load();
  const FamilyCase pairs[] = {
      {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi"
       "1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
       "void aiter::add_rmsnorm_quant_kernel<std::bfloat16_t, std::bfloat16_t, "
       "256, 16, true, false, true, 1>(std::bfloat16_t*, int)"},
      {"_ZN4vllm3moe17topkGatingSoftmaxILi8ELi128ELi4ELi16EEEvPKfPKbPfiPi",
       "void vllm::moe::topkGatingSoftmax<8, 128, 4, 16>(float const*)"},
      {"_ZN7ck_tile6kentryILi1ENS_16MoeSortingKernelINS_17MoeSortingProblemEEE"
       "JNS_5KargsEEEEvDpT1_",
       "void ck_tile::kentry<1, ck_tile::MoeSortingKernel<ck_tile::"
       "MoeSortingProblem>, ck_tile::Kargs>(ck_tile::Kargs)"},
      {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
       "11FillFunctorIiEESt"
       "5arrayIPcLm1EEEEviT0_T1_",
       "void at::native::vectorized_elementwise_kernel<4, at::native::"
       "FillFunctor<int>, std::array<char*, 1ul> >(int)"},
  };
  for (const FamilyCase& pair : pairs) {
    const NameClass mangled = rules.ClassifyName(pair.name);
    const NameClass plain = rules.ClassifyName(pair.family);
    EXPECT_EQ(mangled.category, plain.category) << pair.name;
    EXPECT_EQ(mangled.family, plain.family) << pair.name;
    EXPECT_NE(mangled.category, Category::kUnclassified) << pair.name;
  }
}

}  // namespace
}  // namespace inferdiff
