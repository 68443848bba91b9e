#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a large rocprofv3 file, CSV or JSON, the same every time.

Kernels of a made-up serving run on two streams, decode steps of 40 layers, names
as long as those of real engines, every field quoted as the newest version does.
The JSON has a launch a kernel, and as many HIP calls that launch nothing as the
density asks for. With --one-step the kernels come in no order that repeats: the
whole run is one step, which is what a ledger can be dearest for.
"""
import argparse
import json
import random

NAMES = [
    "__amd_rocclr_copyBuffer",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_"
    "LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0",
    "void at::native::(anonymous namespace)::vectorized_elementwise_kernel<8, "
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int,"
    " at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi8ELb1ELb0ELb0EEEv"
    "PT0_PS1_PfPT_S5_S5_dii",
    "void wvSplitK_hf_sml_<__hip_bfloat16, 64, 4, 16, 8, 2, 4>(int, int, "
    "__hip_bfloat16 const*, __hip_bfloat16 const*, __hip_bfloat16*, int, int)",
    "triton_poi_fused_add_mul_silu_7.kd",
    "void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, "
    "__hip_bfloat16, (vllm::Fp8KVCacheDataType)0, 16, 128, 256, false, 4>("
    "__hip_bfloat16 const*, __hip_bfloat16 const*, __hip_bfloat16 const*)",
]
HEADER = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id",
          "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
          "Start_Timestamp", "End_Timestamp", "LDS_Block_Size",
          "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
          "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z",
          "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"]
CALLS = ["hipLaunchKernel", "hipGetDevice", "hipGetLastError"]


# Of a layer: the kernel, its stream, and how long it runs in ns.
LAYER = [(3, 2, 4200), (1, 2, 18500), (2, 5, 2600), (6, 2, 31000),
         (4, 2, 9800), (3, 2, 4100), (1, 2, 27000), (5, 2, 3300),
         (4, 2, 14500), (2, 2, 2500)]
STEP = [(0, 2, 2100)] + LAYER * 40 + [(3, 2, 4300), (1, 2, 61000), (0, 5, 2400)]


def kernels(rng, one_step):
    """number, name, stream, start, end."""
    now = 342_331_487_558_371
    number = 0
    while True:
        if one_step:
            step = [(rng.randrange(len(NAMES)), 2 if rng.random() < 0.9 else 5,
                     rng.randrange(1500, 40000))]
        else:
            step = STEP
            now += rng.randrange(30_000, 60_000)  # the host's work in between
        for kernel, stream, length in step:
            number += 1
            start = now + rng.randrange(200, 900)
            now = start + length + rng.randrange(length // 16 + 1)
            yield number, kernel, stream, start, now


def write_csv(file, size, run):
    file.write(",".join(f'"{name}"' for name in HEADER) + "\n")
    for number, kernel, stream, start, end in run:
        row = ["KERNEL_DISPATCH", "Agent 4", 2, stream, 2684120, number, kernel,
               NAMES[kernel], 40000 + 3 * number, start, end, 0, 0, 32, 0, 128,
               256, 1, 1, 24576, 1, 1]
        file.write(",".join(f'"{field}"' for field in row) + "\n")
        if number % 1000 == 0 and file.tell() > size:
            return


def write_json(file, size, run, density):
    symbols = [{"size": 88, "kernel_id": i, "kernel_name": name,
                "formatted_kernel_name": name} for i, name in enumerate(NAMES)]
    head = {"metadata": {"pid": 77}, "agents": [
        {"size": 312, "id": {"handle": 91}, "type": 2, "node_id": 4,
         "logical_node_id": 4, "product_name": "AMD Instinct MI300X"}],
        "strings": {"buffer_records": [
            {"kind": "HIP_RUNTIME_API", "operations": CALLS},
            {"kind": "KERNEL_DISPATCH", "operations": ["N", "E", "C"]}]},
        "kernel_symbols": symbols}
    text = json.dumps(head, separators=(",", ":"))
    file.write('{"rocprofiler-sdk-tool":[' + text[:-1] +
               ',"buffer_records":{"kernel_dispatch":[')
    starts = []
    for number, kernel, stream, start, end in run:
        file.write(
            '%s{"size":184,"kind":1,"operation":2,"thread_id":908,'
            '"correlation_id":{"internal":%d,"external":0},'
            '"start_timestamp":%d,"end_timestamp":%d,"dispatch_info":{'
            '"size":72,"agent_id":{"handle":91},"queue_id":{"handle":16},'
            '"kernel_id":%d,"dispatch_id":%d,"private_segment_size":0,'
            '"group_segment_size":0,"workgroup_size":{"x":512,"y":1,"z":1},'
            '"grid_size":{"x":512,"y":1,"z":1}},"stream_id":{"handle":%d}}' %
            ("" if number == 1 else ",", 64 * number, start, end, kernel,
             number, stream))
        starts.append(start - 20000)
        if number >= size * density // 1_000_000_000:
            break
    file.write('],"memory_copy":[],"hip_api":[')
    room = (size - file.tell()) / len(starts)  # for the calls of a kernel
    left = 0
    for i, start in enumerate(starts):
        left += room
        which = 0
        while which == 0 or left > 0:
            left -= file.write(
                '%s{"size":48,"kind":0,"operation":%d,"correlation_id":{'
                '"internal":%d,"external":0},"start_timestamp":%d,'
                '"end_timestamp":%d,"thread_id":908,"stream_id":{"handle":0}}' %
                ("" if i + which == 0 else ",", which and 1 + which % 2,
                 64 * (i + 1) + which, start + 100 * which,
                 start + 100 * which + 90))
            which += 1
    file.write("]}}]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--ops-per-gigabyte", type=int, default=1_100_000,
                        help="of JSON")
    parser.add_argument("--one-step", action="store_true")
    arguments = parser.parse_args()
    size = arguments.megabytes * 1_000_000
    run = kernels(random.Random(1), arguments.one_step)
    with open(arguments.out, "w", encoding="utf-8") as file:
        if arguments.out.endswith(".csv"):
            write_csv(file, size, run)
        else:
            write_json(file, size, run, arguments.ops_per_gigabyte)


if __name__ == "__main__":
    main()
