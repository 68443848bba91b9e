// SPDX-License-Identifier: Apache-2.0
// cuBLAS, opened at run time, as NCCL is: what the vendor's own library
// reaches.
#pragma once

#include <stdexcept>
#include <string>

#include "probes/host.h"

namespace inferdiff {

class BlasLibrary {
 public:
  BlasLibrary()
      : library_({"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
    auto* create = library_.Find<int(void**)>("cublasCreate_v2");
    set_stream_ = library_.Find<SetStream>("cublasSetStream_v2");
    set_space_ = library_.Find<SetSpace>("cublasSetWorkspace_v2");
    multiply_ = library_.Find<Multiply>("cublasGemmEx");
    if (create && set_stream_ && set_space_ && multiply_)
      Check(create(&handle_), "cublasCreate");
  }
  ~BlasLibrary() {
    auto* destroy = library_.Find<int(void*)>("cublasDestroy_v2");
    if (handle_ && destroy) destroy(handle_);
  }
  BlasLibrary(const BlasLibrary&) = delete;
  BlasLibrary& operator=(const BlasLibrary&) = delete;

  bool found() const { return handle_ != nullptr; }
  const std::string& why() const { return library_.why(); }

  /// A capture must not allocate: the library gets its scratch memory here.
  void Use(void* stream, void* space, size_t bytes) const {
    Check(set_stream_(handle_, stream), "cublasSetStream");
    Check(set_space_(handle_, space, bytes), "cublasSetWorkspace");
  }

  /// y = W x with W of side × side row by row and `inputs` rows of x, bf16.
  void Product(int side, int inputs, const void* weights, const void* x,
               void* y) const {
    constexpr int kTransposed = 1, kPlain = 0, kBf16 = 14, kInFloat = 68;
    const float one = 1, zero = 0;
    Check(multiply_(handle_, kTransposed, kPlain, side, inputs, side, &one,
                    weights, kBf16, side, x, kBf16, side, &zero, y, kBf16, side,
                    kInFloat, -1),
          "cublasGemmEx");
  }

 private:
  using SetStream = int(void*, void*);
  using SetSpace = int(void*, void*, size_t);
  using Multiply = int(void*, int, int, int, int, int, const void*, const void*,
                       int, int, const void*, int, int, const void*, void*, int,
                       int, int, int);

  static void Check(int code, const char* call) {
    if (code != 0)
      throw std::runtime_error(std::string(call) + ": error " +
                               std::to_string(code));
  }

  Library library_;
  void* handle_ = nullptr;
  SetStream* set_stream_ = nullptr;
  SetSpace* set_space_ = nullptr;
  Multiply* multiply_ = nullptr;
};

}  // namespace inferdiff
