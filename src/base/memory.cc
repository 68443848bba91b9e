// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <cstdint>

#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace inferdiff {

void AdviseHuge(const void* data, size_t bytes) {
#ifdef __linux__
  constexpr uintptr_t kHuge = uintptr_t{2} << 20;
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (bytes < kHuge / 8) return;
  // Rounded outwards: columns are mapped side by side, and a page that several
  // of them share serves them all. Unmapped parts of the range are skipped.
  const uintptr_t begin = address & ~(kHuge - 1);
  const uintptr_t end = (address + bytes + kHuge - 1) & ~(kHuge - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace inferdiff
