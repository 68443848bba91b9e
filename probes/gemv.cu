// SPDX-License-Identifier: Apache-2.0
// Weights read once a call: bf16 GEMV and the small GEMM of a few sequences.
#include <cmath>
#include <functional>
#include <vector>

#include "probes/blas.h"
#include "probes/gemv.h"
#include "probes/lanes.h"
#include "probes/probe.h"

namespace inferdiff {
namespace {

constexpr int kSide = 4096;        // of the square matrices
constexpr int kWidth = kSide / 8;  // of a row, in words
constexpr int64_t kMatrix = int64_t{kSide} * kWidth;
constexpr int kMatrices = 16;          // 512 MiB: past the caches
constexpr int kShort = 8, kLong = 40;  // calls of the two graphs

// bf16 between −1 and 1 that look random.
__global__ void FillKernel(uint16_t* to, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint32_t mix = static_cast<uint32_t>(i) * 2654435761u;
  mix ^= mix >> 15;
  mix *= 2246822519u;
  mix ^= mix >> 13;
  const float value = static_cast<float>(mix >> 8) * 0x1p-23f - 1.0f;
  to[i] = static_cast<uint16_t>(__float_as_uint(value) >> 16);
}

float FloatOf(uint16_t half) {
  const uint32_t bits = uint32_t{half} << 16;
  float value;
  static_assert(sizeof value == sizeof bits);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

class GemvProbe {
 public:
  GemvProbe(Session* session, GPU(Stream_t) stream)
      : session_(*session),
        stream_(stream),
        weights_(MakeArray<Word>(kMatrix * kMatrices)),
        x_(MakeArray<Word>(4 * kWidth)),
        y_(MakeArray<uint16_t>(4 * kSide, 0xff)) {
    Fill(weights_.get(), kMatrix * kMatrices);
    Fill(x_.get(), 4 * kWidth);
  }

  void Run() {
    Add<1>("bf16 GEMV, 4096 x 4096");
    Add<4>("bf16 GEMM, 4 x 4096 x 4096");
    const BlasLibrary blas;
    if (!blas.found()) {
      session_.report.absent.push_back({"the vendor's GEMV", blas.why()});
      return;
    }
    constexpr size_t kSpace = size_t{64} << 20;
    const auto space = MakeArray<char>(kSpace);
    blas.Use(stream_, space.get(), kSpace);
    AddVendor(blas, 1, "bf16 GEMV, 4096 x 4096, cuBLAS");
    AddVendor(blas, 4, "bf16 GEMM, 4 x 4096 x 4096, cuBLAS");
  }

 private:
  /// Launches call `i`, on the matrix whose turn it is.
  using Launch = std::function<void(int i)>;

  void Fill(Word* to, int64_t words) {
    FillKernel<<<static_cast<unsigned>(words * 8 / 256), 256, 0, stream_>>>(
        reinterpret_cast<uint16_t*>(to), words * 8);
  }

  template <int kInputs, int kGroup, int kRows, int kUnroll>
  void Call(int call) {
    static_assert(kWidth % (kGroup * kUnroll) == 0);
    constexpr int kRowsABlock = kGemvThreads / kGroup * kRows;
    GemvKernel<kInputs, kGroup, kRows, kUnroll>
        <<<kSide / kRowsABlock, kGemvThreads, 0, stream_>>>(
            Matrix(call), x_.get(), y_.get(), kWidth, kSide);
  }

  template <int kInputs, int kGroup, int kRows, int kUnroll>
  Launch Own() {
    return [this](int i) { Call<kInputs, kGroup, kRows, kUnroll>(i); };
  }

  Word* Matrix(int call) const {
    return weights_.get() + call % kMatrices * kMatrix;
  }

  Graph Calls(const Launch& launch, int count) {
    return Capture(stream_, [&] {
      for (int i = 0; i < count; ++i) launch(i);
    });
  }

  Slope SlopeOf(const Launch& launch) {
    return {stream_, Calls(launch, kShort), Calls(launch, kLong),
            kLong - kShort};
  }

  // Against the host's sums in double precision. bf16 has 8 bits.
  template <int kInputs>
  bool IsRight(const Launch& launch) {
    launch(0);
    std::vector<uint16_t> x(4 * kSide), y(kInputs * kSide), row(kSide);
    GPU_CALL(StreamSynchronize, stream_);
    const auto read = [](void* to, const void* from, size_t bytes) {
      GPU_CALL(Memcpy, to, from, bytes, GPU(MemcpyDeviceToHost));
    };
    read(x.data(), x_.get(), 2 * x.size());
    read(y.data(), y_.get(), 2 * y.size());
    for (const int r : {0, 1, 2047, kSide - 1}) {
      read(row.data(), weights_.get() + int64_t{r} * kWidth, 2 * row.size());
      for (int m = 0; m < kInputs; ++m) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < row.size(); ++i) {
          const double term = double{FloatOf(row[i])} *
                              FloatOf(x[static_cast<size_t>(m) * kSide + i]);
          sum += term;
          size += std::abs(term);
        }
        const double got =
            FloatOf(y[static_cast<size_t>(m) * kSide + static_cast<size_t>(r)]);
        if (!(std::abs(got - sum) < 0.005 * std::abs(sum) + 1e-5 * size))
          return false;
      }
    }
    return true;
  }

  template <int kInputs>
  void Add(const char* name) {
    const Launch launches[] = {
        Own<kInputs, 32, 1, 8>(),  Own<kInputs, 32, 2, 4>(),
        Own<kInputs, 32, 1, 4>(),  Own<kInputs, 64, 1, 8>(),
        Own<kInputs, 64, 2, 4>(),  Own<kInputs, 64, 1, 4>(),
        Own<kInputs, 128, 1, 4>(), Own<kInputs, 128, 2, 4>(),
        Own<kInputs, 128, 4, 4>()};
    Launch best = launches[0];
    double least = INFINITY;
    for (const Launch& launch : launches) {
      Slope slope = SlopeOf(launch);
      const double ns = Median({slope.Round(), slope.Round(), slope.Round()});
      if (ns < least) best = launch;
      least = std::min(least, ns);
    }
    if (!IsRight<kInputs>(best)) {
      session_.report.absent.push_back({name, "its result is wrong"});
      return;
    }
    AddSlope(name, best);
  }

  void AddVendor(const BlasLibrary& blas, int inputs, const char* name) {
    const Launch launch = [&](int i) {
      blas.Product(kSide, inputs, Matrix(i), x_.get(), y_.get());
    };
    launch(0);  // loads its kernel
    GPU_CALL(StreamSynchronize, stream_);
    AddSlope(name, launch);
  }

  void AddSlope(const char* name, const Launch& launch) {
    Slope slope = SlopeOf(launch);
    const Measured measured =
        Measure(session_.rule, [&] { return slope.Round(); });
    const double bytes = 2.0 * kSide * kSide;
    session_.Add({"kernel",
                  name,
                  {{"gb_s", bytes / measured.median}},
                  measured,
                  "ns",
                  ""});
  }

  Session& session_;
  GPU(Stream_t) stream_;
  DeviceArray<Word> weights_, x_;
  DeviceArray<uint16_t> y_;
};

}  // namespace

void ProbeGemv(Session* session, GPU(Stream_t) stream) {
  GemvProbe(session, stream).Run();
  GPU_CALL(GetLastError);
}

}  // namespace inferdiff
