// SPDX-License-Identifier: Apache-2.0
// y = W x for a few rows of x, bf16 in and out, sums in fp32: what a projection
// is at decode. W is read once, 16 bytes a thread at a time, so memory decides;
// how many threads a row of W gets decides how well it is kept busy, which is
// tried out and not known before.
#pragma once

#include "probes/kernels.h"

namespace inferdiff {

inline constexpr int kGemvThreads = 128;

// A bf16 is the upper half of a float.
[[maybe_unused]] static __device__ float LowHalf(uint32_t pair) {
  return __uint_as_float(pair << 16);
}
[[maybe_unused]] static __device__ float HighHalf(uint32_t pair) {
  return __uint_as_float(pair & 0xffff0000u);
}

[[maybe_unused]] static __device__ float Dot(const Word& a, const Word& b,
                                             float sum) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum += LowHalf(a.part[i]) * LowHalf(b.part[i]);
    sum += HighHalf(a.part[i]) * HighHalf(b.part[i]);
  }
  return sum;
}

// Over 32 neighbouring threads, on a warp of 32 or of 64.
[[maybe_unused]] static __device__ float SumOf32(float value) {
#pragma unroll
  for (int reach = 16; reach > 0; reach /= 2)
#ifdef INFERDIFF_PROBE_HIP
    value += __shfl_xor(value, reach, 32);
#else
    value += __shfl_xor_sync(0xffffffffu, value, reach);
#endif
  return value;
}

/// A group of kGroup threads has kRows rows of W; `kInputs` rows of x. `width`
/// is the length of a row in words of 8 numbers, a multiple of kGroup kUnroll.
template <int kInputs, int kGroup, int kRows, int kUnroll>
[[maybe_unused]] static __global__ void __launch_bounds__(kGemvThreads)
    GemvKernel(const Word* weights, const Word* x, uint16_t* y, int width,
               int rows) {
  constexpr int kGroups = kGemvThreads / kGroup, kWarps = kGroup / 32;
  const int lane = static_cast<int>(threadIdx.x) % kGroup;
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  const int row = (static_cast<int>(blockIdx.x) * kGroups + group) * kRows;
  float sums[kInputs][kRows] = {};
  for (int i = lane; i < width; i += kGroup * kUnroll) {
    Word w[kRows][kUnroll];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        w[r][u] = weights[int64_t{row + r} * width + i + u * kGroup];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int m = 0; m < kInputs; ++m) {
        const Word input = x[m * width + i + u * kGroup];
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          sums[m][r] = Dot(w[r][u], input, sums[m][r]);
      }
  }
  __shared__ float parts[kGroups][kWarps][kInputs * kRows];
#pragma unroll
  for (int m = 0; m < kInputs; ++m)
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float sum = SumOf32(sums[m][r]);
      if (lane % 32 == 0) parts[group][lane / 32][m * kRows + r] = sum;
    }
  __syncthreads();
  if (lane >= kInputs * kRows) return;
  float sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) sum += parts[group][warp][lane];
  const int m = lane / kRows, r = lane % kRows;
  y[int64_t{m} * rows + row + r] =
      static_cast<uint16_t>((__float_as_uint(sum) + 0x8000u) >> 16);
}

}  // namespace inferdiff
