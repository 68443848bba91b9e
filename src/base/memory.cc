// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace inferdiff {
namespace {

constexpr uintptr_t kHuge = uintptr_t{2} << 20;

}  // namespace

void AdviseHuge(const void* data, size_t bytes) {
#ifdef __linux__
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + kHuge - 1) & ~(kHuge - 1);
  const uintptr_t end = (address + bytes) & ~(kHuge - 1);
  if (begin >= end) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

void FreeMemory::operator()(void* memory) const { std::free(memory); }

std::unique_ptr<void, FreeMemory> AllocateHuge(size_t bytes) {
  const size_t whole = (bytes + kHuge - 1) / kHuge * kHuge;
  void* const memory =
      bytes < kHuge ? std::malloc(bytes) : std::aligned_alloc(kHuge, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (bytes >= kHuge) AdviseHuge(memory, whole);
  return std::unique_ptr<void, FreeMemory>(memory);
}

void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace inferdiff
