// SPDX-License-Identifier: Apache-2.0
// NCCL or RCCL, opened at run time: the few functions that an all-reduce needs,
// declared here, so that neither has to be there when this is built.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "probes/host.h"

namespace inferdiff {

/// Both libraries' C interface, as it has been since version 2.
class CollectiveLibrary {
 public:
  using Communicator = void*;

  CollectiveLibrary()
      : library_({"libnccl.so.2", "libnccl.so", "librccl.so.1", "librccl.so"}) {
    init_all_ = library_.Find<InitAll>("ncclCommInitAll");
    all_reduce_ = library_.Find<AllReduce>("ncclAllReduce");
    destroy_ = library_.Find<Destroy>("ncclCommDestroy");
    abort_ = library_.Find<Destroy>("ncclCommAbort");
    version_ = library_.Find<Version>("ncclGetVersion");
    error_ = library_.Find<ErrorText>("ncclGetErrorString");
  }

  bool found() const {
    return init_all_ && all_reduce_ && destroy_ && abort_ && version_ && error_;
  }
  const std::string& why() const { return library_.why(); }

  /// 22809 is 2.28.9.
  int64_t version() const {
    int value = 0;
    version_(&value);
    return value;
  }

  std::vector<Communicator> InitRanks(int count) const {
    std::vector<Communicator> ranks(static_cast<size_t>(count));
    Check(init_all_(ranks.data(), count, nullptr), "ncclCommInitAll");
    return ranks;
  }

  /// Sums floats in place. `stream` is a GPU stream.
  void Sum(Communicator rank, float* data, size_t count, void* stream) const {
    constexpr int kFloat = 7, kSum = 0;
    Check(all_reduce_(data, data, count, kFloat, kSum, rank, stream),
          "ncclAllReduce");
  }

  void Close(Communicator rank) const { destroy_(rank); }
  /// Ends what the rank has running, whether or not others ever join in.
  void Abort(Communicator rank) const { abort_(rank); }

 private:
  using InitAll = int(Communicator*, int, const int*);
  using AllReduce = int(const void*, void*, size_t, int, int, Communicator,
                        void*);
  using Destroy = int(Communicator);
  using Version = int(int*);
  using ErrorText = const char*(int);

  void Check(int code, const char* call) const {
    if (code != 0)
      throw std::runtime_error(std::string(call) + ": " + error_(code));
  }

  Library library_;
  InitAll* init_all_ = nullptr;
  AllReduce* all_reduce_ = nullptr;
  Destroy *destroy_ = nullptr, *abort_ = nullptr;
  Version* version_ = nullptr;
  ErrorText* error_ = nullptr;
};

}  // namespace inferdiff
