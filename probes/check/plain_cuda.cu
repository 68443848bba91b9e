// SPDX-License-Identifier: Apache-2.0
// The figures that inferdiff-probe is held against, measured in another way and
// with none of its code: graphs put together node by node, the host's clock
// beside the device's events, the vendor's GEMV. Prints one "name value" a
// line.
//
//     nvcc -O3 -arch=native plain_cuda.cu -lcublas -lcublasLt -o plain_cuda &&
//     ./plain_cuda
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(call)                                                     \
  do {                                                                 \
    const auto code = (call);                                          \
    if (static_cast<int>(code) != 0) {                                 \
      std::fprintf(stderr, "%s: %d\n", #call, static_cast<int>(code)); \
      std::exit(1);                                                    \
    }                                                                  \
  } while (0)

__global__ void nothing() {}

__global__ void scatter(__nv_bfloat16* to, size_t count, unsigned seed) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  unsigned x = static_cast<unsigned>(i) * 747796405u + seed;
  x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
  if (i < count) to[i] = __float2bfloat16((x >> 8) / 8388608.0f - 1.0f);
}

static cudaStream_t stream;

static double middle(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// `chains` chains of `length` empty kernels, no node in common.
static cudaGraphExec_t chains_graph(int chains, int length) {
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams node = {};
  node.func = reinterpret_cast<void*>(nothing);
  node.gridDim = dim3(1);
  node.blockDim = dim3(32);
  for (int c = 0; c < chains; ++c) {
    cudaGraphNode_t last;
    for (int i = 0; i < length; ++i) {
      cudaGraphNode_t next;
      MUST(cudaGraphAddKernelNode(&next, graph, &last, i == 0 ? 0 : 1, &node));
      last = next;
    }
  }
  cudaGraphExec_t exec;
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphUpload(exec, stream));
  MUST(cudaStreamSynchronize(stream));
  return exec;
}

// Microseconds of one replay: by events, or by the host from launch to end.
static double replay_us(cudaGraphExec_t exec, bool by_host, int rounds = 41) {
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  std::vector<double> times;
  for (int i = 0; i < rounds + 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    MUST(cudaEventRecord(a, stream));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaEventRecord(b, stream));
    MUST(cudaStreamSynchronize(stream));
    const std::chrono::duration<double, std::micro> host =
        std::chrono::steady_clock::now() - start;
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, a, b));
    if (i >= 5) times.push_back(by_host ? host.count() : 1e3 * ms);
  }
  return middle(times);
}

static void chains(const char* name, int count, int less, int more) {
  const auto small = chains_graph(count, less), big = chains_graph(count, more);
  for (const bool by_host : {false, true}) {
    const double s = replay_us(small, by_host), b = replay_us(big, by_host);
    std::printf("%s_slope_%s_ns %.2f\n", name, by_host ? "host" : "events",
                1e3 * (b - s) / ((more - less) * count));
    std::printf("%s_whole_%s_ns %.2f\n", name, by_host ? "host" : "events",
                1e3 * b / (more * count));
  }
}

static void copies() {
  const size_t bytes = size_t{4} << 30;
  char *from, *to;
  MUST(cudaMalloc(&from, bytes));
  MUST(cudaMalloc(&to, bytes));
  MUST(cudaMemset(from, 1, bytes));
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  std::vector<double> rates;
  for (int i = 0; i < 22; ++i) {
    MUST(cudaEventRecord(a, stream));
    MUST(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
    MUST(cudaEventRecord(b, stream));
    MUST(cudaStreamSynchronize(stream));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, a, b));
    if (i >= 2) rates.push_back(2e-6 * bytes / ms);
  }
  std::printf("memcpy_gb_s %.1f\n", middle(rates));
  MUST(cudaFree(from));
  MUST(cudaFree(to));
}

// One more call, from graphs of 8 and of 40.
template <class Call>
static double call_us(const Call& call) {
  call(0);
  MUST(cudaStreamSynchronize(stream));
  double times[2];
  for (const int size : {0, 1}) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < (size == 0 ? 8 : 40); ++i) call(i);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    times[size] = replay_us(exec, false);
  }
  return (times[1] - times[0]) / 32;
}

struct Product {
  int side = 4096, columns = 1, matrices = 16;
  __nv_bfloat16 *w, *x, *y;
  void* space;
  size_t space_bytes = 64 << 20;
  const __nv_bfloat16* matrix(int i) const {
    return w + i % matrices * size_t(side) * side;
  }
};

// What a caller of cuBLAS gets who asks for nothing special.
static void by_default(const Product& p) {
  cublasHandle_t blas;
  MUST(cublasCreate(&blas));
  MUST(cublasSetStream(blas, stream));
  MUST(cublasSetWorkspace(blas, p.space, p.space_bytes));
  const float one = 1, zero = 0;
  const double us = call_us([&](int i) {
    MUST(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, p.side, p.columns, p.side,
                      &one, p.matrix(i), CUDA_R_16BF, p.side, p.x, CUDA_R_16BF,
                      p.side, &zero, p.y, CUDA_R_16BF, p.side,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  });
  std::printf("cublas_%d_default_us %.3f\n", p.columns, us);
}

// The fastest of what cuBLAS's heuristics propose.
static void at_its_best(const Product& p) {
  cublasLtHandle_t lt;
  MUST(cublasLtCreate(&lt));
  cublasLtMatmulDesc_t product;
  MUST(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t transposed = CUBLAS_OP_T;
  MUST(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA,
                                      &transposed, sizeof transposed));
  cublasLtMatrixLayout_t w, x, y;
  MUST(cublasLtMatrixLayoutCreate(&w, CUDA_R_16BF, p.side, p.side, p.side));
  MUST(cublasLtMatrixLayoutCreate(&x, CUDA_R_16BF, p.side, p.columns, p.side));
  MUST(cublasLtMatrixLayoutCreate(&y, CUDA_R_16BF, p.side, p.columns, p.side));
  cublasLtMatmulPreference_t wish;
  MUST(cublasLtMatmulPreferenceCreate(&wish));
  MUST(cublasLtMatmulPreferenceSetAttribute(
      wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &p.space_bytes,
      sizeof p.space_bytes));
  cublasLtMatmulHeuristicResult_t found[64];
  int count = 0;
  MUST(cublasLtMatmulAlgoGetHeuristic(lt, product, w, x, y, y, wish, 64, found,
                                      &count));
  const float one = 1, zero = 0;
  double best = 1e9;
  for (int k = 0; k < count; ++k)
    best =
        std::min(best, call_us([&](int i) {
                   MUST(cublasLtMatmul(lt, product, &one, p.matrix(i), w, p.x,
                                       x, &zero, p.y, y, p.y, y, &found[k].algo,
                                       p.space, p.space_bytes, stream));
                 }));
  std::printf("cublas_%d_best_us %.3f of %d\n", p.columns, best, count);
}

static void vendor_gemv(int columns) {
  Product p;
  p.columns = columns;
  const size_t each = size_t(p.side) * p.side;
  MUST(cudaMalloc(&p.w, 2 * each * p.matrices));
  MUST(cudaMalloc(&p.x, 2 * p.side * columns));
  MUST(cudaMalloc(&p.y, 2 * p.side * columns));
  MUST(cudaMalloc(&p.space, p.space_bytes));
  scatter<<<each * p.matrices / 256, 256>>>(p.w, each * p.matrices, 1);
  scatter<<<p.side * columns / 256, 256>>>(p.x, p.side * columns, 7);
  MUST(cudaDeviceSynchronize());
  by_default(p);
  at_its_best(p);
  MUST(cudaFree(p.w));
}

int main() {
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  // Clocks up.
  const auto exec = chains_graph(1, 1000);
  for (int i = 0; i < 500; ++i) MUST(cudaGraphLaunch(exec, stream));
  MUST(cudaStreamSynchronize(stream));
  chains("new_chain", 1, 512, 1024);
  chains("new_branches", 2, 16, 64);
  // A process's kernels may become slower with use: once more behind copies
  // and products.
  copies();
  vendor_gemv(1);
  vendor_gemv(4);
  chains("used_chain", 1, 512, 1024);
  chains("used_branches", 2, 16, 64);
  return 0;
}
