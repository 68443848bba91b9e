# SPDX-License-Identifier: Apache-2.0
"""Kernel names as traces of the two vendors show them, by role.

A role is what a kernel does in the model; its category is what the tool must
say, also where the name alone does not tell (a router's matrix product). The
durations are typical of a decode step of a middle-sized model.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    category: str
    duration_ns: int


# Role -> (category, duration of a decode step's kernel, NVIDIA, AMD, either).
_ROLES = {
    "norm": ("norm", 2300,
             "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>("
             "__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int, "
             "unsigned int, unsigned int, float, float)",
             "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0E"
             "Lb1ELi1EEEvPT0_PT_S3_S3_S3_Pfdiiiii",
             "fused_add_rmsnorm_reg_kernel"),
    "quant": ("quantization", 1900,
              "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, "
              "c10::Float8_e4m3fn>(c10::Float8_e4m3fn*, c10::BFloat16 const*, "
              "float const*, int, long, long)",
              "_ZN5aiter37dynamic_per_token_scaled_quant_kernelIDF16bDB8_EEvPT0"
              "_PfPT_PKfii",
              "_static_quant_fp8"),
    "qkv": ("dense_gemm", 9100,
            "nvjet_sm103_tst_64x16_64x16_2x1_2cta_v_bz_splitK_TNT",
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1"
            "_SN_LDSB1_AFC1_ISA942_IU1_K1_WG32_8_1",
            "matmul_kernel_persistent"),
    "qkv_reduce": ("dense_gemm", 2100,
                   "void cublasLt::splitKreduce_kernel<32, 16, int, float, "
                   "__nv_bfloat16, float, __nv_bfloat16, false, float, "
                   "__nv_bfloat16, __nv_bfloat16, true, false, false, false>("
                   "cublasLt::cublasSplitKParams<float>, float const*, "
                   "__nv_bfloat16 const*, __nv_bfloat16*)",
                   "Cijk_SS_BiasS_HAS_ScaleAlphaVec_PostGSU16_VW4",
                   "_gemm_a8w8_blockscale_reduce_kernel"),
    "rope": ("rope", 1700,
             "void (anonymous namespace)::fused_rope_kernel<true, 128l, true, "
             "__nv_bfloat16, long, 16u>((anonymous namespace)::FusedRopeParams)",
             "void aiter::kn_entry_2c_sbhd_cached_indirect_inplace<"
             "aiter::OpCachedFwd, 0, true, false, true, true, c10::BFloat16, "
             "c10::BFloat16>(c10::BFloat16*, c10::BFloat16*, int, int)",
             "void vllm::rotary_embedding_kernel<c10::BFloat16, true>("
             "long const*, c10::BFloat16*, c10::BFloat16*, "
             "c10::BFloat16 const*, int, long, long, long, int, int, int)"),
    "kv_write": ("kv_cache_write", 1500,
                 "void (anonymous namespace)::store_kvcache<2048l, 4, true, "
                 "long>((anonymous namespace)::StoreKVCacheParams)",
                 "void (anonymous namespace)::store_kvcache<2048l, 4, false, "
                 "long>((anonymous namespace)::StoreKVCacheParams)",
                 "_fused_qk_rope_reshape_and_cache_kernel"),
    "attention": ("attention", 14500,
                  "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64"
                  "VarSeqQ8Kv128PersistentSwapsAbForGen",
                  "void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16,"
                  " __hip_bfloat16, (vllm::Fp8KVCacheDataType)0, "
                  "__hip_bfloat16, 16, 128, 256, false, 4>("
                  "__hip_bfloat16 const*, __hip_bfloat16 const*)",
                  "kernel_unified_attention_2d"),
    "o_proj": ("dense_gemm", 6200,
               "nvjet_sm103_tst_64x16_64x16_4x1_v_bz_TNT",
               "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256"
               "_MI16x16x1_SN_LDSB1_AFC1_ISA942_IU1_K1_WG64_4_1",
               "_gemm_a16_w16_kernel"),
    "all_reduce": ("communication", 8000,
                   "ncclDevKernel_AllReduce_Sum_bf16_RING_LL("
                   "ncclDevKernelArgsStorage<4096ul>)",
                   "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8, "
                   "false>(aiter::RankData*, aiter::RankSignals, "
                   "aiter::Signal*, __hip_bfloat16*, int, int)",
                   "void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>("
                   "sglang::RankData*, sglang::RankSignals, sglang::Signal*, "
                   "__nv_bfloat16*, int, int)"),
    "all_gather": ("communication", 11000,
                   "ncclDevKernel_AllGather_RING_LL("
                   "ncclDevKernelArgsStorage<4096ul>)",
                   "ncclDevKernel_Generic_2(ncclDevKernelArgsStorage<4096ul>)",
                   "ncclDevKernel_AllGather_RING_LL("
                   "ncclDevKernelArgsStorage<4096ul>)"),
    "send_recv": ("communication", 9000,
                  "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                  "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                  "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
    "dispatch": ("communication", 16000,
                 "void deep_ep::internode_ll::dispatch<true, false, 7168>("
                 "void*, void*, int*, long*, int*, int*)",
                 "void mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>("
                 "mori::moe::EpDispatchCombineArgs<__hip_bfloat16>)",
                 "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
    "combine": ("communication", 18000,
                "void deep_ep::internode_ll::combine<false, 7168, 9, 4>("
                "void*, void*, int*, void*, void const*, long const*)",
                "void mori::moe::EpCombineIntraNodeKernel<__hip_bfloat16>("
                "mori::moe::EpDispatchCombineArgs<__hip_bfloat16>)",
                "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL("
                "ncclDevKernelArgsStorage<4096ul>)"),
    "router": ("moe_routing", 3300,
               "nvjet_sm103_tst_64x8_64x16_1x1_h_bz_TNT",
               "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x256"
               "_MI16x16x1_SN_LDSB1_AFC1_ISA942_IU1_K1_WG16_16_1",
               "_router_triton_kernel"),
    "topk": ("moe_routing", 2800,
             "void moe::dev::routing::routingDeepSeek::routingMainKernel<"
             "moe::dev::routing::routingDeepSeek::KernelParams<float, "
             "__nv_bfloat16, 256, true> >(moe::dev::routing::routingDeepSeek::"
             "KernelParams<float, __nv_bfloat16, 256, true>)",
             "void aiter::grouped_topk_opt_sort_kernel<c10::BFloat16, float, 8,"
             " true, true>(c10::BFloat16*, c10::BFloat16*, float*, int*, int)",
             "_topk_forward"),
    "moe_gemm_1": ("moe_gemm", 21000,
                   "bmm_E4m3_E4m3E4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32"
                   "_cga1x1x1_16dp256b_rM_TN_transOut_schedP2x1x2x3_bN_tma"
                   "_tmaOpt_clmp_swiGlu_dynBatch_sm100f",
                   "void ck::kernel_moe_gemm<ck::GridwiseMoeGemmBlockScale<"
                   "ck::tensor_layout::gemm::RowMajor, "
                   "ck::tensor_operation::element_wise::MulABScaleShuffled>, "
                   "true>(ck::GridwiseMoeGemmBlockScale<int>)",
                   "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"),
    "moe_act": ("moe_quant_act", 2600,
                "void tensorrt_llm::kernels::quantize_with_block_size<("
                "tensorrt_llm::BlockScaleQuantizationType)2, __nv_bfloat16, "
                "32, true>(int, int, int, int, __nv_bfloat16 const*, "
                "float const*, unsigned int*)",
                "void aiter::act_and_mul_kernel<__hip_bfloat16, "
                "(aiter::ActivationKind)0, 8>(__hip_bfloat16*, "
                "__hip_bfloat16 const*, int)",
                "_silu_and_mul_post_quant_kernel"),
    "moe_gemm_2": ("moe_gemm", 15000,
                   "bmm_Bfloat16_E4m3E4m3_Fp32_t128x16x256u2_s3_et128x16"
                   "_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_schedP2x1x2x3"
                   "_bN_tmaOpt_clmp_dynBatch_sm100f",
                   "void ck::kernel_moe_gemm<ck::GridwiseMoeGemmBlockScale<"
                   "ck::tensor_layout::gemm::RowMajor, "
                   "ck::tensor_operation::element_wise::PassThrough>, true>("
                   "ck::GridwiseMoeGemmBlockScale<int>)",
                   "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1"),
    "finalize": ("moe_routing", 3100,
                 "void moe::dev::finalize::finalizeKernelVecLoad<"
                 "moe::dev::finalize::KernelParams<cutlass::bfloat16_t, "
                 "cutlass::bfloat16_t, 4, true> >(moe::dev::finalize::"
                 "KernelParams<cutlass::bfloat16_t, cutlass::bfloat16_t, 4, "
                 "true>)",
                 "_moe_sum_reduce_kernel",
                 "_finalize_matmul_scatter_bf16"),
    "gate_up": ("dense_gemm", 19000,
                "nvjet_sm103_tst_256x16_64x6_4x1_v_bz_TNT",
                "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64"
                "_MI16x16x1_SN_LDSB1_AFC1_ISA942_IU1_K1_WG64_4_1",
                "_gemm_a8w8_blockscale_kernel"),
    "activation": ("activation", 2200,
                   "void (anonymous namespace)::act_and_mul_kernel<"
                   "__nv_bfloat16, ((anonymous namespace)::ActivationKind)0, "
                   "true, false>((anonymous namespace)::ActivationParams)",
                   "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_"
                   "bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
                   "silu_and_mul_kernel"),
    "down": ("dense_gemm", 11000,
             "nvjet_sm103_tst_32x64_64x16_4x1_v_bz_TNN",
             "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x32x512"
             "_MI16x16x1_SN_LDSB1_AFC1_ISA942_IU1_K1_WG16_16_1",
             "_fused_gemm_a8w8_blockscale_a16w16_kernel"),
    "indexer": ("attention_indexer", 5200,
                "void deep_gemm::sm100_fp8_paged_mqa_logits<8u, 64u, 128u, 64u,"
                " 256u, 3u, 4u>(unsigned int, unsigned long, unsigned int*)",
                "_gluon_deepgemm_fp8_paged_mqa_logits_preshuffle",
                "_deepgemm_fp8_paged_mqa_logits"),
    "mhc": ("mhc", 4100, "mhc_pre_big_fuse_tilelang_kernel",
            "_ZN5aiter26mhc_pre_gemm_sqrsum_kernelIDF16bLi64ELi64EEEvPfS1_PT_S2"
            "_iii",
            "mhc_post_tilelang_kernel"),
    "embedding": ("elementwise_memory", 2400,
                  "void at::native::(anonymous namespace)::indexSelectSmallIndex"
                  "<c10::BFloat16, long, unsigned int, 2, 2, -2>("
                  "at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, "
                  "int, int, unsigned int, long)",
                  "void at::native::vectorized_gather_kernel<16, long>(char*, "
                  "char*, long*, int, long, long, long, long, bool)",
                  "_masked_embedding_kernel"),
    "arange": ("elementwise_memory", 1300,
               "void (anonymous namespace)::elementwise_kernel_with_index<int, "
               "at::native::arange_cuda_out(c10::Scalar const&, c10::Scalar "
               "const&, c10::Scalar const&, at::Tensor&)::{lambda()#1}::"
               "operator()() const::{lambda()#4}::operator()() const::"
               "{lambda(long)#1}>(int, long)",
               "void at::native::vectorized_elementwise_kernel<4, "
               "at::native::FillFunctor<int>, std::array<char*, 1ul> >(int, "
               "at::native::FillFunctor<int>, std::array<char*, 1ul>)",
               "triton_poi_fused__to_copy_1"),
    "metadata": ("attention", 1600, "create_flashinfer_kv_indices_triton",
                 "create_flashinfer_kv_indices_triton",
                 "create_flashinfer_kv_indices_triton"),
    "positions": ("other", 1100,
                  "void (anonymous namespace)::clamp_position_kernel<long>("
                  "long*, long const*, unsigned long)",
                  "void (anonymous namespace)::clamp_position_kernel<long>("
                  "long*, long const*, unsigned long)",
                  "compute_position_kernel"),
    "lm_head": ("dense_gemm", 46000,
                "nvjet_sm103_tst_128x16_64x12_2x1_2cta_v_bz_TNT",
                "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x48x64"
                "_MI16x16x1_SN_LDSB1_AFC1_ISA942_IU1_K1_WG64_4_1",
                "matmul_kernel_persistent"),
    "sampling": ("sampling", 7400,
                 "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<"
                 "float, at::native::ArgMaxOps<float>, unsigned int, long, 4, "
                 "4> >(at::native::ReduceOp<float, at::native::ArgMaxOps<float>"
                 ", unsigned int, long, 4, 4>)",
                 "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<"
                 "float, at::native::ArgMaxOps<float>, unsigned int, long, 4, "
                 "4> >(at::native::ReduceOp<float, at::native::ArgMaxOps<float>"
                 ", unsigned int, long, 4, 4>)",
                 "_topk_topp_kernel"),
    "eh_norm": ("speculative_draft", 2500, "fused_eh_norm_kernel",
                "fused_eh_norm_kernel", "fused_eh_norm_kernel"),
    "build_tree": ("speculative_draft", 3600,
                   "void build_tree_efficient<float, int>(float*, int*, int*, "
                   "bool*, int*)",
                   "sgl_build_tree_kernel_efficient_triton",
                   "sgl_build_tree_kernel_efficient_triton"),
    "verify_tree": ("speculative_draft", 4300,
                    "void VerifyTreeGreedy<int, long>(int*, int*, int*, long*, "
                    "long*, long*, long*, long*, unsigned int, unsigned int)",
                    "verify_tree_greedy_kernel_triton",
                    "verify_tree_greedy_kernel_triton"),
    "fill": ("memset", 1200, "", "__amd_rocclr_fillBufferAligned",
             "__amd_rocclr_fillBufferAligned"),
}

VENDORS = ("nvidia", "amd", "either")
COLLECTIVE_ROLES = ("all_reduce", "all_gather", "send_recv", "dispatch",
                    "combine")


def kernel(vendor, role):
    """`either` has names that occur on both vendors, for traces that are
    written in formats of both."""
    category, duration, *names = _ROLES[role]
    name = names[VENDORS.index(vendor)]
    return Kernel(name, category, duration)


def roles():
    return list(_ROLES)


def nsys_spelling(name):
    """Nsight Systems demangles in words of its own."""
    for kineto, nsys in (
            (r"\(anonymous namespace\)", "<unnamed>"),
            (r"(?<=[<, ])(-?\d+)(?=[,>])", r"(int)\1"),
            (r"(?<=[<, ])(\d+)u(?=[,>])", r"(unsigned int)\1"),
            (r"(?<=[<, ])(\d+)ul(?=[,>])", r"(unsigned long)\1"),
            (r"(?<=[<, ])(\d+)l(?=[,>])", r"(long)\1"),
            (r"(?<=[<, ])true(?=[,>])", "(bool)1"),
            (r"(?<=[<, ])false(?=[,>])", "(bool)0"),
            (r"\{lambda\(([^()]*)\)#(\d+)\}", r"[lambda(\1) (instance \2)]")):
        name = re.sub(kineto, nsys, name)
    return name
