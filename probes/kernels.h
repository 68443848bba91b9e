// SPDX-License-Identifier: Apache-2.0
// What the probes launch.
#pragma once

#include <cstdint>

#include "probes/gpu.h"

namespace inferdiff {

/// 16 bytes: the widest access of a thread.
struct alignas(16) Word {
  uint32_t part[4];
};

/// Nothing. The branch is never taken; it keeps the argument.
[[maybe_unused]] static __global__ void EmptyKernel(int* never) {
  if (threadIdx.x > 1024) *never = 1;
}

/// The same for programmatic dependent launch: its successor may start at once,
/// itself it waits for its predecessor's end.
[[maybe_unused]] static __global__ void DependentKernel(int* never) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x > 1024) *never = 1;
}

/// Keeps its block busy for that many clock cycles.
[[maybe_unused]] static __global__ void BusyKernel(int64_t cycles) {
  const int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
}

/// A wall clock in ns, of this device alone.
[[maybe_unused]] static __device__ int64_t WallNs() {
#ifdef INFERDIFF_PROBE_HIP
  return static_cast<int64_t>(__builtin_amdgcn_s_memrealtime()) *
         10;  // 100 MHz
#else
  int64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#endif
}

[[maybe_unused]] static __global__ void StampKernel(int64_t* stamp) {
  *stamp = WallNs();
}

[[maybe_unused]] static __global__ void WaitKernel(int64_t ns) {
  const int64_t start = WallNs();
  while (WallNs() - start < ns) {
  }
}

[[maybe_unused]] static __global__ void ElementwiseKernel(float* x,
                                                          int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) x[i] = x[i] * 0.5f + 1.0f;
}

/// 16 KiB from the kernel before to the kernel behind: 1,024 threads.
[[maybe_unused]] static __global__ void PassKernel(const Word* from, Word* to) {
  Word word = from[1023 - threadIdx.x];
  word.part[0] += 1;
  to[threadIdx.x] = word;
}

[[maybe_unused]] static __global__ void CopyKernel(const Word* from, Word* to,
                                                   int64_t count) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < count; i += 4 * stride) {
    const Word w0 = from[i], w1 = from[i + stride];
    const Word w2 = from[i + 2 * stride], w3 = from[i + 3 * stride];
    to[i] = w0;
    to[i + stride] = w1;
    to[i + 2 * stride] = w2;
    to[i + 3 * stride] = w3;
  }
  for (; i < count; i += stride) to[i] = from[i];
}

[[maybe_unused]] static __global__ void TriadKernel(float4* a, const float4* b,
                                                    const float4* c,
                                                    int64_t count) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float4 x = b[i], y = c[i];
    a[i] = {x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w};
  }
}

}  // namespace inferdiff
