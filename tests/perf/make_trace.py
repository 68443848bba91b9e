#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a large Kineto trace of a made-up serving run, the same every time.

  graph   a decode step is one graph launch with a few hundred kernels in no
          fixed order, and some launches of single kernels
  eager   a step launches the same few hundred kernels one by one: for each a
          launch call and two flow events, and queries in between, as many as
          eager traces of PyTorch have. Without other host events that makes
          0.87 million ops a gigabyte, minified 1.06 million.

Host events (Python frames, operators) stand around them until the file has the
wanted number of GPU ops a gigabyte.
"""
import argparse
import json
import random

KERNELS = [
    "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<"
    "c10::BFloat16, float, true>(int, float, c10::BFloat16 const*, "
    "c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, "
    "c10::BFloat16*)",
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, "
    "float, __nv_bfloat16, true, false, false>(cublasLt::cublasSplitKParams<"
    "float>, float const*, __nv_bfloat16 const*, __nv_bfloat16*, float const*)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, "
    "false, false, cutlass::bfloat16_t> >(Flash_fwd_params)",
    "triton_poi_fused_add_mul_silu_7",
    "void moe::dev::routing::routingIndicesDynBlockKernel<KernelParams<float, "
    "__nv_bfloat16, 128, 8> >(KernelParams<float, __nv_bfloat16, 128, 8>)",
    "fused_moe_kernel",
    "_fwd_grouped_kernel_stage1",
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(",
]
EAGER_KERNELS = KERNELS + [
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_"
    "nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
    "{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::"
    "{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, at::native::direct_"
    "copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1} "
    "const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<...>)",
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor"
    "_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor"
    "_add<c10::BFloat16>, std::array<char*, 3ul>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::"
    "native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >"
    "(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
    "float>, unsigned int, float, 4, 4>)",
]
OPS = ["aten::mm", "aten::slice", "aten::as_strided", "aten::empty_strided",
       "aten::_to_copy", "aten::copy_", "vllm::unified_attention"]
FRAMES = ["nn.Module: Qwen2DecoderLayer_%d", "torch/nn/modules/module.py(1739): "
          "_wrapped_call_impl", "vllm/model_executor/layers/linear.py(%d): "
          "forward", "<built-in method item of Tensor object at 0x7f%06x>"]


class Kineto:
    """The layout of PyTorch's own writer."""

    begin = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
      "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 132
    }
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
  "cuda_runtime_version": 13000,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""
    end = """
  ],
  "traceName": "/tmp/generated.json"
}
"""
    between = ",\n"

    @staticmethod
    def event(cat, name, pid, tid, ts, dur, args):
        members = ", ".join('"%s": %s' % a for a in args)
        return ('  {\n    "ph": "X", "cat": "%s", "name": "%s", "pid": %d, '
                '"tid": %d,\n    "ts": %d.%03d, "dur": %d.%03d,\n    "args": '
                '{\n      %s\n    }\n  }' %
                (cat, name, pid, tid, ts // 1000, ts % 1000, dur // 1000,
                 dur % 1000, members))

    @staticmethod
    def flow(ph, ident, pid, tid, ts):
        return ('  {\n    "ph": "%s", "id": %d, "pid": %d, "tid": %d, "ts": '
                '%d.%03d,\n    "cat": "ac2g", "name": "ac2g"%s\n  }' %
                (ph, ident, pid, tid, ts // 1000, ts % 1000,
                 ', "bp": "e"' if ph == "f" else ""))


class Minified(Kineto):
    begin = json.dumps(json.loads(Kineto.begin + "]}"),
                       separators=(",", ":"))[:-2]
    end = "]}"
    between = ","

    @staticmethod
    def event(cat, name, pid, tid, ts, dur, args):
        members = ",".join('"%s":%s' % a for a in args)
        return ('{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,'
                '"ts":%d.%03d,"dur":%d.%03d,"args":{%s}}' %
                (cat, name, pid, tid, ts // 1000, ts % 1000, dur // 1000,
                 dur % 1000, members))

    @staticmethod
    def flow(ph, ident, pid, tid, ts):
        return ('{"ph":"%s","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,'
                '"cat":"ac2g","name":"ac2g"%s}' %
                (ph, ident, pid, tid, ts // 1000, ts % 1000,
                 ',"bp":"e"' if ph == "f" else ""))


class Writer:
    def __init__(self, out, style, bytes_per_op):
        self.out, self.style, self.bytes_per_op = out, style, bytes_per_op
        self.random = random.Random(7)
        self.bytes = self.ops = 0
        self.host = self.device = 5115527807042486  # ns on the trace's clock
        self.correlation = 1000
        self.first = True

    def put(self, text):
        if not self.first:
            text = self.style.between + text
        self.first = False
        self.out.write(text)
        self.bytes += len(text)

    def event(self, *fields):
        self.put(self.style.event(*fields))

    def kernel(self, name, start, dur, stream, correlation, external):
        args = [("External id", external)] if external else []
        args += [("queued", 0), ("device", 0), ("context", 1),
                 ("stream", stream), ("correlation", correlation),
                 ("registers per thread", self.random.randrange(16, 168)),
                 ("shared memory", self.random.randrange(0, 220000)),
                 ("blocks per SM", "%.6f" % self.random.random()),
                 ("warps per SM", "%.6f" % (self.random.random() * 8)),
                 ("grid", "[%d, 1, 1]" % self.random.randrange(1, 999)),
                 ("block", "[128, 1, 1]"),
                 ("est. achieved occupancy %", self.random.randrange(0, 100))]
        self.event("kernel", name, 0, stream, start, dur, args)
        self.put(self.style.flow("f", correlation, 0, stream, start))
        self.ops += 1

    def host_events(self):
        """Until the file is as sparse in GPU ops as wanted."""
        while self.bytes < self.ops * self.bytes_per_op:
            self.host += self.random.randrange(300, 3000)
            if self.random.random() < 0.75:
                frame = self.random.choice(FRAMES)
                name = frame % self.random.randrange(64) if "%" in frame else frame
                self.event("python_function", name, 708, 708, self.host,
                           self.random.randrange(500, 90000),
                           [("Python parent id", self.random.randrange(1 << 25)),
                            ("Python id", self.random.randrange(1 << 25)),
                            ("Ev Idx", self.random.randrange(1 << 25))])
            else:
                self.event("cpu_op", self.random.choice(OPS), 708, 708,
                           self.host, self.random.randrange(500, 90000),
                           [("External id", self.random.randrange(1 << 20)),
                            ("Record function id", 0),
                            ("Concrete Inputs", '["", "0", "[1, 16]", "1"]'),
                            ("Input type", '["c10::BFloat16", "Scalar"]'),
                            ("Input Dims", "[[16, 4096], [4096, 1024]]"),
                            ("Ev Idx", self.random.randrange(1 << 25))])

    def call(self, cat, name, dur, flow):
        self.correlation += 1
        self.host += self.random.randrange(1000, 4000)
        self.event(cat, name, 708, 708, self.host, dur,
                   [("External id", self.random.randrange(1 << 20)),
                    ("cbid", 211), ("correlation", self.correlation)])
        self.put(self.style.flow(flow, self.correlation, 708, 708, self.host))

    def runtime(self, name, dur):
        self.call("cuda_runtime", name, dur, "s")

    def end_step(self, begin, marker):
        self.runtime("cudaStreamSynchronize", 1000)
        self.host = max(self.host, self.device)
        self.event("user_annotation", marker, 708, 708, begin,
                   self.host - begin, [("External id", 1), ("Ev Idx", 0)])

    def eager_step(self):
        """Four queries for ten ops; the ids of calls that leave no event lie
        between."""
        begin = self.host
        for i in range(400):
            if i % 5 == 0:
                self.call("cuda_runtime", "cudaDeviceGetAttribute", 400, "f")
            if i % 5 == 3:
                self.call("cuda_runtime", "cudaOccupancyMaxActiveBlocksPer"
                          "MultiprocessorWithFlags", 700, "f")
            self.correlation += 13
            driver = i % 4 == 1
            self.call("cuda_driver" if driver else "cuda_runtime",
                      "cuLaunchKernelEx" if driver else "cudaLaunchKernel",
                      self.random.randrange(2000, 9000), "s")
            self.device = max(self.device, self.host) + 500
            dur = self.random.randrange(1500, 40000)
            self.kernel(EAGER_KERNELS[i * i % 20 % 13], self.device, dur, 7,
                        self.correlation, self.random.randrange(1, 1 << 20))
            self.device += dur
            self.host_events()
        self.end_step(begin, "step[DECODE bs=1 toks=1]")

    def graph_step(self):
        begin = self.host
        for _ in range(60):
            self.runtime("cudaLaunchKernel", self.random.randrange(2000, 9000))
            self.device = max(self.device, self.host) + 500
            dur = self.random.randrange(1500, 40000)
            self.kernel(self.random.choice(KERNELS), self.device, dur, 7,
                        self.correlation, self.random.randrange(1, 1 << 20))
            self.device += dur
            self.host_events()
        self.runtime("cudaGraphLaunch", 300000)
        for i in range(340):
            dur = self.random.randrange(1500, 40000)
            self.kernel(self.random.choice(KERNELS), self.device, dur,
                        7 if i % 9 else 222, self.correlation, 0)
            self.device += dur - 300 * (i % 9 == 0)
            self.host_events()
        self.end_step(begin, "step[DECODE bs=16 toks=16]")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--kind", choices=["graph", "eager"], default="graph")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--ops-per-gigabyte", type=int, default=400_000)
    parser.add_argument("--minified", action="store_true")
    options = parser.parse_args()
    style = Minified if options.minified else Kineto
    with open(options.out, "w", encoding="utf-8", buffering=1 << 20) as out:
        out.write(style.begin)
        writer = Writer(out, style, 1_000_000_000 // options.ops_per_gigabyte)
        step = writer.eager_step if options.kind == "eager" else (
            writer.graph_step)
        while writer.bytes < options.megabytes * 1_000_000:
            step()
        out.write(style.end)
    print(f"{options.out}: {writer.bytes} bytes, {writer.ops} ops, "
          f"{writer.ops * 1000 // (writer.bytes // 1_000_000)} ops/GB")


if __name__ == "__main__":
    main()
