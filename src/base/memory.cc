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

constexpr size_t kHuge = size_t{2} << 20;

}  // namespace

void* AllocateHuge(size_t bytes) {
  if (bytes < kHuge) return std::malloc(bytes);
  if (bytes > SIZE_MAX - kHuge) return nullptr;
  void* const memory =
      std::aligned_alloc(kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
#ifdef __linux__
  // Advice only. A last page that would stay mostly empty is a small one.
  const size_t filled = (bytes + kHuge / 4) / kHuge * kHuge;
  if (memory != nullptr) madvise(memory, filled, MADV_HUGEPAGE);
#endif
  return memory;
}

void FreeMemory::operator()(void* memory) const { std::free(memory); }

std::unique_ptr<void, FreeMemory> NewHuge(size_t bytes) {
  std::unique_ptr<void, FreeMemory> memory(AllocateHuge(bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace inferdiff
